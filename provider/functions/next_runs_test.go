package functions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/functions"
)

func nextRuns(schedule, zone, after string, count int64) (attr.Value, *function.FuncError) {
	var definition function.DefinitionResponse
	functions.NewNextRuns().Definition(context.Background(), function.DefinitionRequest{}, &definition)
	unknown, _ := definition.Definition.Return.NewResultData(context.Background())
	resp := function.RunResponse{Result: unknown}
	functions.NewNextRuns().Run(context.Background(), function.RunRequest{Arguments: function.NewArgumentsData([]attr.Value{
		types.StringValue(schedule), types.StringValue(zone), types.StringValue(after), types.Int64Value(count),
	})}, &resp)
	return resp.Result.Value(), resp.Error
}

func TestNextRunsNamesTimesWordsAndChangesOfTheClocks(t *testing.T) {
	t.Parallel()
	got, err := nextRuns("30 2 * * *", "Europe/Berlin", "2027-03-26T12:00:00Z", 2)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"affected":[{"at":[],"kind":"skipped","wall":"2027-03-28 02:30"},` +
		`{"at":["2027-10-31T02:30:00+02:00","2027-10-31T02:30:00+01:00"],"kind":"repeated","wall":"2027-10-31 02:30"}],` +
		`"times":["2027-03-27T02:30:00+01:00","2027-03-29T02:30:00+02:00"],"words":"at 02:30 every day"}`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNextRunsInUTCHasNoChangeOfTheClocks(t *testing.T) {
	t.Parallel()
	got, err := nextRuns("0 3 * * *", "", "2027-03-26T12:00:00Z", 1)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.String(); !strings.Contains(text, `"affected":[]`) || !strings.Contains(text, `"times":["2027-03-27T03:00:00Z"]`) {
		t.Error(text)
	}
}

func TestNextRunsRefusesArgumentsInFull(t *testing.T) {
	t.Parallel()
	const daily, noon = "0 3 * * *", "2027-03-26T12:00:00Z"
	for title, tested := range map[string]struct {
		schedule, zone, after string
		count                 int64
		want                  string
	}{
		"schedule": {"0 25 * * *", "", noon, 1, `schedule: unix-cron "0 25 * * *": hour, column 3: "25" is out of range; allowed: 0-23`},
		"time_zone": {
			daily, "Europe/Berln", noon, 1, `time_zone: time zone "Europe/Berln" is not in the tz database; did you mean "Europe/Berlin"?`,
		},
		"after":          {daily, "", "tomorrow", 1, `after: "tomorrow" is not a time: write RFC 3339, such as 2026-10-16T12:00:00Z`},
		"count":          {daily, "", noon, 0, `count: 0 is not possible: ask for 1 to 1000`},
		"count too high": {daily, "", noon, 1001, `count: 1001 is not possible: ask for 1 to 1000`},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, err := nextRuns(tested.schedule, tested.zone, tested.after, tested.count)
			if err == nil {
				t.Fatal("nothing was refused")
			}
			if diff := cmp.Diff(tested.want, err.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}
