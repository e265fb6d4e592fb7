package jobspec_test

import (
	"slices"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

func TestAChangeOfWhatNamesRunsIsFoundUnlessThePreviousNameIsDeclared(t *testing.T) {
	t.Parallel()
	const store, other = "firestore://acme-prod/(default)/scheduler_runs", "firestore://acme-prod/(default)/runs"
	before := jobspec.Known[jobspec.Previous]
	type change struct {
		from, to jobspec.Deduplication
		changes  []string // the attributes
		declared bool
		unknown  bool
	}
	for name, c := range map[string]change{
		"nothing":          {to: jobspec.Deduplication{Store: text(store), RunIDFormat: text("v1"), ForcedRuns: text("separate")}},
		"retention":        {to: jobspec.Deduplication{Retention: dur(1e15)}},
		"store":            {to: jobspec.Deduplication{Store: text(other)}, changes: []string{"store"}},
		"scope":            {from: jobspec.Deduplication{RunScope: text("eu")}, changes: []string{"run_scope"}},
		"forced":           {to: jobspec.Deduplication{ForcedRuns: text("reject")}, changes: []string{"forced_runs"}},
		"format":           {to: jobspec.Deduplication{RunIDFormat: text("sample")}, changes: []string{"run_id_format", "forced_runs"}},
		"unknown":          {to: jobspec.Deduplication{Store: jobspec.Unknown[string]()}, unknown: true},
		"change, unknown":  {to: jobspec.Deduplication{Store: jobspec.Unknown[string](), RunScope: text("eu")}, changes: []string{"run_scope"}, unknown: true},
		"declared default": {to: jobspec.Deduplication{RunScope: text("eu"), Previous: before(jobspec.Previous{})}, changes: []string{"run_scope"}, declared: true},
		"declared format": {
			from: jobspec.Deduplication{RunIDFormat: text("sample")}, to: jobspec.Deduplication{Previous: before(jobspec.Previous{RunIDFormat: text("sample")})},
			changes: []string{"run_id_format", "forced_runs"}, declared: true,
		},
		"declared store": {
			to:      jobspec.Deduplication{Store: text(other), Previous: before(jobspec.Previous{Store: text(store)})},
			changes: []string{"store"}, declared: true,
		},
		"store left out": {to: jobspec.Deduplication{Store: text(other), Previous: before(jobspec.Previous{})}, changes: []string{"store"}},
		"declared wrongly": {
			to:      jobspec.Deduplication{RunScope: text("eu"), Previous: before(jobspec.Previous{RunScope: text("us")})},
			changes: []string{"run_scope"},
		},
		"declared, one unknown": {
			to:      jobspec.Deduplication{RunScope: text("eu"), Previous: before(jobspec.Previous{RunScope: jobspec.Unknown[string]()})},
			changes: []string{"run_scope"}, unknown: true,
		},
		"declared, unknown": {
			to:      jobspec.Deduplication{RunScope: text("eu"), Previous: jobspec.Unknown[jobspec.Previous]()},
			changes: []string{"run_scope"}, unknown: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			naming := func(d jobspec.Deduplication) jobspec.Naming {
				return jobspec.Derive(withDedup(func(to *jobspec.Deduplication) { *to = d })).Naming()
			}
			got := jobspec.Rename(naming(c.from), naming(c.to), c.to.Previous)
			var changed []string
			for _, change := range got.Changes {
				changed = append(changed, change.Attribute)
			}
			if !slices.Equal(changed, c.changes) || got.Declared != c.declared || got.Unknown != c.unknown {
				t.Errorf("%+v", got)
			}
		})
	}
}
