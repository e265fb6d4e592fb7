package scheduledjob_test

import (
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestChangeThatNamesRunsAnewIsWarnedAboutUntilThePreviousNameIsDeclared(t *testing.T) {
	t.Parallel()
	const warning = `deduplication of job "nightly-report": its runs get another name`
	const other = "firestore://acme-prod/(default)/other_runs"
	for title, tested := range map[string]struct {
		from, to object
		want     []string // what the warning holds; none: there is none
	}{
		"store": {nil, object{"store": other}, []string{
			`store changes from "firestore://acme-prod/(default)/scheduler_runs" to "` + other + `"`,
			"IDEMPOTENT_PREVIOUS=job=nightly-report;until=", "IDEMPOTENT_PREVIOUS_STORE=firestore://acme-prod/(default)/scheduler_runs",
		}},
		"format": {object{"run_id_format": "sample"}, nil, []string{
			`run_id_format changes from "sample" to "v1"`, "format=sample", `run_id_format = "sample"`,
		}},
		"scope":            {object{"run_scope": "reports"}, object{"run_scope": "sums"}, []string{"scope=reports"}},
		"forced runs":      {nil, object{"forced_runs": "reject"}, []string{`forced_runs changes from "separate" to "reject"`}},
		"anything else":    {nil, object{"retention": "72h"}, nil},
		"declared":         {nil, object{"store": other, "previous": []object{{"store": "firestore://acme-prod/(default)/scheduler_runs", "until": "2027-01-31T00:00:00Z"}}}, nil},
		"declared wrongly": {nil, object{"store": other, "previous": []object{{"run_scope": "reports", "until": "2027-01-31T00:00:00Z"}}}, []string{"store changes"}},
		"nothing":          {object{"run_scope": "reports"}, object{"run_scope": "reports"}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			protocol, _ := acctest.Start(t)
			created := create(t, protocol, refusal{dedup: tested.from}.config())
			_, diagnostics := protocol.Update(t, created, refusal{dedup: tested.to}.config())
			if len(tested.want) == 0 {
				wantWarnings(t, diagnostics)
				return
			}
			wantWarnings(t, diagnostics, warning)
			for _, part := range tested.want {
				if said := acctest.Text(diagnostics[0]); !strings.Contains(said, part) {
					t.Errorf("%q is missing in: %s", part, said)
				}
			}
		})
	}
}
