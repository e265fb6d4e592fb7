package unixcron_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func TestTheGrammarOfCloudSchedulerIsAccepted(t *testing.T) {
	t.Parallel()

	for _, expr := range []string{
		"* * * * *", "0 0 1 1 0", "59 23 31 12 7", "00 09 01 01 00", "*/5 * * * *", "*/59 */23 */31 */12 */7", "0-59 0-23 1-31 1-12 0-7",
		"5-59/15 * * * *", "0,30 8,12,16 * * *", "0 0 1,15 JAN,JUL MON-FRI", "0 0 * JAN-DEC/3 SUN-SAT", "0 0 * * MON-5", "0 0 * * 5-7",
		"1-3,5,*/20 * * * *", "0  0\t* * *", "0 0 29 2 *", "0 0 31 4 MON", "0 0 30,31 4 *", "5-5 * * * *", "*,1 * * * *",
	} {
		schedule, err := unixcron.Parse(expr)
		if err != nil {
			t.Error(err)
		}

		if schedule.String() != expr {
			t.Errorf("%q prints as %q", expr, schedule)
		}
	}
}

// refusals gives the whole message for each way to be wrong.
func refusals() map[string]string {
	return map[string]string{
		"":     `unix-cron "": is empty, write five fields: minute, hour, day of month, month and day of week`,
		" \t ": `unix-cron " \t ": is empty, write five fields: minute, hour, day of month, month and day of week`,
		"0 3 * *": `unix-cron "0 3 * *": day of week, column 8: is missing, there are 4 fields where five must be; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday`,
		" 0 3 * * *":  `unix-cron " 0 3 * * *": column 1: blank space around the five fields; write "0 3 * * *"`,
		"0 3 * * *\n": `unix-cron "0 3 * * *\n": column 10: blank space around the five fields; write "0 3 * * *"`,
		"0 3\n* * *":  `unix-cron "0 3\n* * *": column 4: "\n" cannot be in a schedule, fields are parted by spaces; write "0 3 * * *"`,
		"0 3\u00a0* * *": "unix-cron \"0 3\\u00a0* * *\": column 4: \"\\u00a0\" cannot be in a schedule, fields are parted by spaces; " +
			`write "0 3 * * *"`,
		"0 3 * * \x00": `unix-cron "0 3 * * \x00": column 9: "\x00" cannot be in a schedule, fields are parted by spaces`,
		"0 3 * * \xff": `unix-cron "0 3 * * \xff": column 9: "�" cannot be in a schedule, fields are parted by spaces`,

		"0 0 3 * * *": `unix-cron "0 0 3 * * *": column 1: "0" is a sixth field, for seconds, which unix-cron does not have; write "0 3 * * *"`,
		"0 0 9 ? * mon-fri": `unix-cron "0 0 9 ? * mon-fri": column 1: "0" is a sixth field, for seconds, which unix-cron does not have; ` +
			`write "0 9 * * MON-FRI"`,
		"0 3 * * * 2027": `unix-cron "0 3 * * * 2027": column 11: "2027" is a sixth field, for years, which unix-cron does not have; ` +
			`write "0 3 * * *"`,
		"0 0 3 * * ? 2027": `unix-cron "0 0 3 * * ? 2027": column 11: "?" makes 7 fields, of which unix-cron does not have the first, ` +
			`for seconds, and the last, for years; write "0 3 * * *"`,
		"0 3 * * * * * *":  `unix-cron "0 3 * * * * * *": column 11: "*" is one field too many, there are 8 where five must be`,
		"0 9 * * MON, TUE": `unix-cron "0 9 * * MON, TUE": column 9: "MON," has a blank beside its comma, lists are written without; write "0 9 * * MON,TUE"`,
		"0 9 , 10 * * *":   `unix-cron "0 9 , 10 * * *": column 5: "," has a blank beside its comma, lists are written without; write "0 9,10 * * *"`,

		"@yearly":       `unix-cron "@yearly": column 1: "@yearly" is a macro, unix-cron has none; write "0 0 1 1 *"`,
		"@annually":     `unix-cron "@annually": column 1: "@annually" is a macro, unix-cron has none; write "0 0 1 1 *"`,
		"@monthly":      `unix-cron "@monthly": column 1: "@monthly" is a macro, unix-cron has none; write "0 0 1 * *"`,
		"@weekly":       `unix-cron "@weekly": column 1: "@weekly" is a macro, unix-cron has none; write "0 0 * * 0"`,
		"@daily":        `unix-cron "@daily": column 1: "@daily" is a macro, unix-cron has none; write "0 0 * * *"`,
		"@midnight":     `unix-cron "@midnight": column 1: "@midnight" is a macro, unix-cron has none; write "0 0 * * *"`,
		"@Hourly":       `unix-cron "@Hourly": column 1: "@Hourly" is a macro, unix-cron has none; write "0 * * * *"`,
		"@reboot":       `unix-cron "@reboot": column 1: "@reboot" is a macro, unix-cron has none`,
		"@every 5m":     `unix-cron "@every 5m": column 1: "@every 5m" is a macro, unix-cron has none; write "*/5 * * * *"`,
		"@every 2h0m0s": `unix-cron "@every 2h0m0s": column 1: "@every 2h0m0s" is a macro, unix-cron has none; write "0 */2 * * *"`,
		"@every 7m":     `unix-cron "@every 7m": column 1: "@every 7m" is a macro, unix-cron has none`,
		"TZ=UTC 0 3 * * *": `unix-cron "TZ=UTC 0 3 * * *": column 1: "TZ=UTC" sets a time zone, which is an argument of its own ` +
			`(time_zone); write "0 3 * * *"`,
		"CRON_TZ=Europe/Berlin @daily": `unix-cron "CRON_TZ=Europe/Berlin @daily": column 1: "CRON_TZ=Europe/Berlin" sets a time zone, ` +
			`which is an argument of its own (time_zone); write "0 0 * * *"`,

		"60 * * * *":     `unix-cron "60 * * * *": minute, column 1: "60" is out of range; allowed: 0-59; write "0 * * * *"`,
		"61 * * * *":     `unix-cron "61 * * * *": minute, column 1: "61" is out of range; allowed: 0-59`,
		"0 24 * * *":     `unix-cron "0 24 * * *": hour, column 3: "24" is out of range; allowed: 0-23; write "0 0 * * *"`,
		"0 0-24/2 * * *": `unix-cron "0 0-24/2 * * *": hour, column 5: "24" is out of range; allowed: 0-23; write "0 0-23/2 * * *"`,
		"0 0 0 * *":      `unix-cron "0 0 0 * *": day of month, column 5: "0" is out of range; allowed: 1-31`,
		"0 0 1,32 * *":   `unix-cron "0 0 1,32 * *": day of month, column 7: "32" is out of range; allowed: 1-31`,
		"0 0 * 13 *":     `unix-cron "0 0 * 13 *": month, column 7: "13" is out of range; allowed: 1-12 or JAN-DEC`,
		"0 0 * * 8":      `unix-cron "0 0 * * 8": day of week, column 9: "8" is out of range; allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday`,
		"99999999999999999999 * * * *": `unix-cron "99999999999999999999 * * * *": minute, column 1: "99999999999999999999" is out of range; ` +
			`allowed: 0-59`,
		"-1 * * * *":    `unix-cron "-1 * * * *": minute, column 1: "-1" lacks a value beside its hyphen; allowed: 0-59`,
		"1- * * * *":    `unix-cron "1- * * * *": minute, column 1: "1-" lacks a value beside its hyphen; allowed: 0-59`,
		"/5 * * * *":    `unix-cron "/5 * * * *": minute, column 1: a value or * is missing before the step; allowed: 0-59; write "*/5 * * * *"`,
		"+1 * * * *":    `unix-cron "+1 * * * *": minute, column 1: "+1" is not a value of this field; allowed: 0-59`,
		"1-2-3 * * * *": `unix-cron "1-2-3 * * * *": minute, column 3: "2-3" is not a value of this field; allowed: 0-59`,
		"x * * * *":     `unix-cron "x * * * *": minute, column 1: "x" is not a value of this field; allowed: 0-59`,
		"0 ** * * *":    `unix-cron "0 ** * * *": hour, column 3: "**" is not a value of this field; allowed: 0-23`,
		"0 1,,2 * * *":  `unix-cron "0 1,,2 * * *": hour, column 5: an entry of the list is empty; allowed: 0-23; write "0 1,2 * * *"`,
		"0 ,1, * * *":   `unix-cron "0 ,1, * * *": hour, column 3: an entry of the list is empty; allowed: 0-23; write "0 1 * * *"`,
		"0 , * * *":     `unix-cron "0 , * * *": hour, column 3: an entry of the list is empty; allowed: 0-23`,
		"0 1–5 * * *":   `unix-cron "0 1–5 * * *": hour, column 4: "–" is a dash, ranges take a hyphen; write "0 1-5 * * *"`,

		"*/0 * * * *":   `unix-cron "*/0 * * * *": minute, column 3: "0" is not a step; allowed: 1-59`,
		"*/ * * * *":    `unix-cron "*/ * * * *": minute, column 2: "/" lacks the step after it; allowed: 1-59`,
		"*/x * * * *":   `unix-cron "*/x * * * *": minute, column 3: "x" is not a step; allowed: 1-59`,
		"*/2/3 * * * *": `unix-cron "*/2/3 * * * *": minute, column 3: "2/3" is not a step; allowed: 1-59`,
		"*/90 * * * *": `unix-cron "*/90 * * * *": minute, column 3: "90" as a step goes beyond the field, only its first value would be ` +
			`left; allowed: 1-59; write "0 * * * *"`,
		"5/15 * * * *": `unix-cron "5/15 * * * *": minute, column 1: "5/15" has a step on a single value, steps follow * or a range; ` +
			`allowed: 0-59; write "5-59/15 * * * *"`,
		"0 0 * * 1/2": `unix-cron "0 0 * * 1/2": day of week, column 9: "1/2" has a step on a single value, steps follow * or a range; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * 1-6/2"`,
		"0 22-2 * * *": `unix-cron "0 22-2 * * *": hour, column 3: "22-2" is a range that runs backwards; allowed: 0-23; ` +
			`write "0 22-23,0-2 * * *"`,
		"0 0 * * FRI-MON": `unix-cron "0 0 * * FRI-MON": day of week, column 9: "FRI-MON" is a range that runs backwards; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * FRI-SAT,SUN-MON"`,
		"0 0 * * SAT-SUN": `unix-cron "0 0 * * SAT-SUN": day of week, column 9: "SAT-SUN" is a range that runs backwards; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * SAT,SUN"`,

		"0 0 * * mon": `unix-cron "0 0 * * mon": day of week, column 9: "mon" is not in upper case; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * MON"`,
		"0 0 * jan-Mar/2 *": `unix-cron "0 0 * jan-Mar/2 *": month, column 7: "jan" is not in upper case; ` +
			`allowed: 1-12 or JAN-DEC; write "0 0 * JAN-MAR/2 *"`,
		"0 0 * * Monday": `unix-cron "0 0 * * Monday": day of week, column 9: "Monday" is not a name, names have three upper-case letters; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * MON"`,
		"MON * * * *": `unix-cron "MON * * * *": minute, column 1: "MON" is the name of a day of the week; ` +
			`allowed: 0-59`,
		"0 0 * MON *": `unix-cron "0 0 * MON *": month, column 7: "MON" is the name of a day of the week; allowed: 1-12 or JAN-DEC; write "0 0 * * MON"`,
		"0 0 * * JAN": `unix-cron "0 0 * * JAN": day of week, column 9: "JAN" is the name of a month; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * JAN *"`,
		"0 0 mon-Fri * *": `unix-cron "0 0 mon-Fri * *": day of month, column 5: "mon" is the name of a day of the week; allowed: 1-31; ` +
			`write "0 0 * * MON-FRI"`,
		"0 0 1 MON JAN": `unix-cron "0 0 1 MON JAN": month, column 7: "MON" is the name of a day of the week; allowed: 1-12 or JAN-DEC; ` +
			`write "0 0 1 JAN MON"`,
		"0 0 1 MON 9": `unix-cron "0 0 1 MON 9": month, column 7: "MON" is the name of a day of the week; allowed: 1-12 or JAN-DEC; ` +
			`write "0 0 1 9 MON"`,
		"0 0 1 MON FRI": `unix-cron "0 0 1 MON FRI": month, column 7: "MON" is the name of a day of the week; allowed: 1-12 or JAN-DEC`,
		"0 0 * * */MON": `unix-cron "0 0 * * */MON": day of week, column 11: "MON" is not a step; allowed: 1-7`,

		"0 0 ? * *":    `unix-cron "0 0 ? * *": day of month, column 5: "?" is the ? of Quartz, unix-cron has *; write "0 0 * * *"`,
		"0 0 ?/2 * *":  `unix-cron "0 0 ?/2 * *": day of month, column 5: "?/2" begins with the ? of Quartz, unix-cron has *; write "0 0 */2 * *"`,
		"H/15 * * * *": `unix-cron "H/15 * * * *": minute, column 1: "H/15" begins with the H of Jenkins, unix-cron picks no time itself; write "*/15 * * * *"`,
		"H * * * *":    `unix-cron "H * * * *": minute, column 1: "H" is the H of Jenkins, unix-cron picks no time itself; allowed: 0-59`,
		"0 0 L * *": `unix-cron "0 0 L * *": day of month, column 5: "L" asks for the last day of the month (L), which unix-cron cannot say: ` +
			`fire on the last days and let the work choose; allowed: 1-31; write "0 0 28-31 * *"`,
		"0 0 1,LW * *": `unix-cron "0 0 1,LW * *": day of month, column 7: "LW" asks for the last day of the month (L), which unix-cron cannot ` +
			`say: fire on the last days and let the work choose; allowed: 1-31; write "0 0 1,28-31 * *"`,
		"0 0 15W * ?": `unix-cron "0 0 15W * ?": day of month, column 5: "15W" asks for the nearest weekday (W), which unix-cron cannot say: ` +
			`fire on the days around and let the work choose; allowed: 1-31; write "0 0 14-16 * *"`,
		"0 0 1W * *": `unix-cron "0 0 1W * *": day of month, column 5: "1W" asks for the nearest weekday (W), which unix-cron cannot say: ` +
			`fire on the days around and let the work choose; allowed: 1-31; write "0 0 1-3 * *"`,
		"0 0 W * *": `unix-cron "0 0 W * *": day of month, column 5: "W" asks for the nearest weekday (W), which unix-cron cannot say: ` +
			`fire on the days around and let the work choose; allowed: 1-31`,
		"0 0 * * L": `unix-cron "0 0 * * L": day of week, column 9: "L" is the L of Quartz, the last day of its week: Saturday; ` +
			`allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * 6"`,
		"0 0 * * 5L": `unix-cron "0 0 * * 5L": day of week, column 9: "5L" asks for the last week of the month (L), which unix-cron cannot ` +
			`say: fire every week and let the work choose; allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * 5"`,
		"0 0 * * fri#2": `unix-cron "0 0 * * fri#2": day of week, column 9: "fri#2" asks for one week of the month (#), which unix-cron ` +
			`cannot say: fire every week and let the work choose; allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday; write "0 0 * * FRI"`,
		"0 0 * * #2": `unix-cron "0 0 * * #2": day of week, column 9: "#2" asks for one week of the month (#), which unix-cron ` +
			`cannot say: fire every week and let the work choose; allowed: 0-7 or SUN-SAT, 0 and 7 are Sunday`,

		"0 0 30 2 *": `unix-cron "0 0 30 2 *": day of month, column 5: "30" never comes, the longest month of "2" has 29 days; ` +
			`allowed: 1-29; write "0 0 28 2 *"`,
		"0 0 31 APR,JUN */1": `unix-cron "0 0 31 APR,JUN */1": day of month, column 5: "31" never comes, the longest month of "APR,JUN" ` +
			`has 30 days; allowed: 1-30; write "0 0 30 APR,JUN */1"`,
		"0 0 30-31 FEB *": `unix-cron "0 0 30-31 FEB *": day of month, column 5: "30-31" never comes, the longest month of "FEB" has 29 days; ` +
			`allowed: 1-29; write "0 0 28 FEB *"`,

		"every 5 minutes":         `unix-cron "every 5 minutes": is groc, runs need the fixed grid of unix-cron; write "*/5 * * * *"`,
		"1st monday of jan 17:00": `unix-cron "1st monday of jan 17:00": is groc, whose equal in unix-cron does not exist`,

		"60 * * * * " + strings.Repeat("x", 200): `unix-cron "60 * * * * ` + strings.Repeat("x", 109) + `"…: column 1: "60" is a sixth field, ` +
			`for seconds, which unix-cron does not have`,
	}
}

func TestRefusedExpressionsAreToldWhatIsWrongWhereAndWhatToWrite(t *testing.T) {
	t.Parallel()

	for expr, want := range refusals() {
		schedule, err := unixcron.Parse(expr)
		if err == nil {
			t.Errorf("%q is accepted", expr)

			continue
		}

		if err.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", expr, err, want)
		}

		var wrong *unixcron.Error
		if !errors.As(err, &wrong) || wrong.Expr != expr || schedule != (unixcron.Schedule{}) {
			t.Errorf("%q: %#v with %#v", expr, err, schedule)
		}
	}
}

func TestEverySuggestionIsAccepted(t *testing.T) {
	t.Parallel()

	for expr := range refusals() {
		var wrong *unixcron.Error

		_, err := unixcron.Parse(expr)
		if errors.As(err, &wrong) && wrong.Suggestion != "" {
			if _, err := unixcron.Parse(wrong.Suggestion); err != nil {
				t.Errorf("suggested for %q: %v", expr, err)
			}
		}
	}
}

func TestKindsTellRefusalsApart(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]unixcron.Kind{
		"60 * * * *": unixcron.Syntax, "0 0 30 2 *": unixcron.NeverFires, "every 5 minutes": unixcron.Groc, "@daily": unixcron.Syntax,
	} {
		var wrong *unixcron.Error
		if _, err := unixcron.Parse(expr); !errors.As(err, &wrong) || wrong.Kind != want {
			t.Errorf("%q: %v is not of kind %q", expr, err, want)
		}
	}
}

func TestDaysAreRestrictedUnlessAnEntryIsAStar(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]bool{
		"0 0 1 * MON": true, "0 0 */2 * */2": true, "0 0 1-31 * 0-6": true,
		"0 0 * * MON": false, "0 0 1 * *": false, "0 0 */1 * MON": false, "0 0 1 * *,MON": false,
	} {
		if got := mustParse(t, expr).BothDaysRestricted(); got != want {
			t.Errorf("%q: %v", expr, got)
		}
	}
}

func TestEveryHourLeavesNoneOut(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]bool{"*/5 * * * *": true, "0 0-23 * * MON": true, "0 */2 * * *": false, "0 3 * * *": false} {
		if got := mustParse(t, expr).EveryHour(); got != want {
			t.Errorf("%q: %v", expr, got)
		}
	}
}
