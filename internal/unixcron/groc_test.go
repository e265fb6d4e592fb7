package unixcron_test

import (
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func TestGrocIsTurnedIntoUnixCronWithTheSameGrid(t *testing.T) {
	t.Parallel()

	for groc, want := range map[string]string{
		"every 1 minutes":                            "* * * * *",
		"every minute":                               "* * * * *",
		"every 5 minutes":                            "*/5 * * * *",
		"every 5 mins":                               "*/5 * * * *",
		"Every 5 Minutes":                            "*/5 * * * *",
		"every 60 minutes":                           "0 * * * *",
		"every 120 minutes":                          "0 */2 * * *",
		"every hour":                                 "0 * * * *",
		"every 1 hours":                              "0 * * * *",
		"every 6 hours synchronized":                 "0 */6 * * *",
		"every 24 hours":                             "0 0 * * *",
		"every 2 hours from 10:00 to 14:00":          "0 10-14/2 * * *",
		"every 5 minutes from 10:00 to 13:55":        "*/5 10-13 * * *",
		"every 5 minutes from 10:00 to 13:59":        "*/5 10-13 * * *",
		"every 1 hours from 9:15 to 17:15":           "15 9-17 * * *",
		"every 1 hours from 22:00 to 1:00":           "0 0,1,22,23 * * *",
		"every 30 minutes from 09:00 to 09:30":       "0,30 9 * * *",
		"every day 00:00":                            "0 0 * * *",
		"every mon,wed 9:00":                         "0 9 * * MON,WED",
		"every mon, wed 9:00":                        "0 9 * * MON,WED",
		"every monday 09:05":                         "5 9 * * MON",
		"every thursday of jan,sept 23:59":           "59 23 * JAN,SEP THU",
		"every day of month 4:30":                    "30 4 * * *",
		"every day of quarter 4:30":                  "30 4 * 1,4,7,10 *",
		"every monday of 2nd month of quarter 00:00": "0 0 * 2,5,8,11 MON",
		"1 of jan,april,july,oct 00:00":              "0 0 1 JAN,APR,JUL,OCT *",
		"1,15 of month 06:00":                        "0 6 1,15 * *",
	} {
		got, ok := unixcron.FromGroc(groc)
		if got != want || !ok {
			t.Errorf("%q: %q, %v, want %q", groc, got, ok, want)
		}

		mustParse(t, want)
	}
}

func TestGrocWithoutAnEqualHasNone(t *testing.T) {
	t.Parallel()

	for _, groc := range []string{
		"", "every", "every 5", "every 0 minutes", "every 7 minutes", "every 90 minutes", "every 5 hours", "every 48 hours", "every 5 days",
		"every 5 minutes from 10:00 to 14:00", "every 7 minutes from 10:00 to 14:00", "every 5 minutes from 10:00", "every 5 minutes at 10:00",
		"every 5 minutes from 10:00 until 14:00", "every 5 minutes from 25:00 to 26:00", "every 5 minutes from 10 to 14",
		"1st monday of jan 17:00", "first,third tue 9:00", "2nd day of month 9:00", "every day", "every day 24:00", "every day 9:5",
		"every someday 9:00", "every mon of never 9:00", "30 of feb 9:00", "32 of month 9:00", "every mon tue 9:00", "x of month 9:00",
		"every day of 9:00", "of 9:00", "every 99999999999999999999 hours", "* * * * *",
	} {
		if got, ok := unixcron.FromGroc(groc); got != "" || ok {
			t.Errorf("%q: %q, %v", groc, got, ok)
		}
	}
}

func TestGrocIsRecognised(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]bool{
		"every 5 minutes": true, "EVERY day 9:00": true, "every nonsense": true, "1st monday of jan 17:00": true, "first,third tue 9:00": true,
		"1 of jan 9:00": true, "1,15 of month 9:00": true,
		"": false, "every": false, "* * * * *": false, "1 2 3 4 5": false, "0 0 * * MON": false, "@every 5m": false,
	} {
		if got := unixcron.IsGroc(expr); got != want {
			t.Errorf("%q: %v", expr, got)
		}
	}
}

func TestAnIntervalWithinADayFiresAtBothItsEnds(t *testing.T) {
	t.Parallel()

	expr, _ := unixcron.FromGroc("every 2 hours from 10:00 to 14:00")
	schedule := mustParse(t, expr)

	at := utc(2027, 1, 1, 0, 0)
	for _, hour := range []int{10, 12, 14, 34} {
		at = schedule.Next(at, time.UTC)

		if want := utc(2027, 1, 1, hour, 0); !at.Equal(want) {
			t.Errorf("fires at %v, want %v", at, want)
		}
	}
}
