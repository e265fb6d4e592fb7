package functions_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/functions"
)

func unixCron(schedule string) (string, *function.FuncError) {
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	functions.NewUnixCron().Run(context.Background(), function.RunRequest{
		Arguments: function.NewArgumentsData([]attr.Value{types.StringValue(schedule)}),
	}, &resp)
	text, _ := resp.Result.Value().(types.String)
	return text.ValueString(), resp.Error
}

func TestUnixCronHasTheGridOfTheGrocSchedule(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"every 5 minutes":            "*/5 * * * *",
		"every day 00:00":            "0 0 * * *",
		"every mon,wed 9:00":         "0 9 * * MON,WED",
		"1,2 of month 09:00":         "0 9 1,2 * *",
		"30 4 * * MON-FRI":           "30 4 * * MON-FRI",
		"Every 12 Hours":             "0 */12 * * *",
		"every 2 hours synchronized": "0 */2 * * *",
	} {
		got, err := unixCron(schedule)
		if err != nil {
			t.Errorf("%q: %v", schedule, err)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", schedule, got, want)
		}
	}
}

func TestUnixCronGivesTheReasonWhereThereIsNoEqual(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"every 7 minutes": `schedule: "every 7 minutes" has no equal in unix-cron: its runs are not the same every hour and every day, and ` +
			`unix-cron begins anew each hour and day; choose a number of minutes that divides 60, or of hours that divides 24`,
		"every 5 minutes from 10:00 to 14:00": `schedule: "every 5 minutes from 10:00 to 14:00" has no equal in unix-cron: its window ends ` +
			`within an hour, and unix-cron's hours are whole; use two jobs, or a window that ends at minute 59`,
		"1st monday of jan 17:00": `schedule: "1st monday of jan 17:00" has no equal in unix-cron: unix-cron cannot say which of a month's ` +
			`weekdays is meant: where both day fields are restricted, either matches; run on every such weekday and have the work look at the date`,
		"every other day": `schedule: "every other day" has no equal in unix-cron: it is not groc as App Engine documents it; write it in ` +
			`unix-cron: minute, hour, day of month, month, day of week`,
		"0 3 * *": `schedule: unix-cron "0 3 * *": day of week, column 8: is missing, there are 4 fields where five must be; allowed: ` +
			`0-7 or SUN-SAT, 0 and 7 are Sunday`,
	} {
		_, err := unixCron(schedule)
		if err == nil {
			t.Errorf("%q: nothing was refused", schedule)
			continue
		}
		if diff := cmp.Diff(want, err.Text); diff != "" {
			t.Errorf("%q: %s", schedule, diff)
		}
	}
}
