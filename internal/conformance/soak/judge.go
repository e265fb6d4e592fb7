package soak

import (
	"context"
	"fmt"
	"slices"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// judge compares what the processes said with what is in the store. All deliveries are over.
func (d *driver) judge(ctx context.Context, s *process.Subject) error {
	effects, err := s.Counts(ctx)
	if err != nil {
		return fmt.Errorf("count effects: %w", err)
	}
	records := map[string]claim.Snapshot{}
	for found, err := range s.Store.List(ctx, claim.Filter{}) {
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		records[found.ID] = found
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.all {
		d.judgeRun(e, records[run.ID(e.name)], effects[e.name])
		delete(effects, e.name)
	}
	for name, n := range effects {
		d.problemf("%d effects of %s, which was never delivered", n, name)
	}
	if len(records) != len(d.all) {
		d.problemf("%d records of %d runs", len(records), len(d.all))
	}
	return nil
}

func (d *driver) judgeRun(e *entry, r claim.Snapshot, effects int) {
	if !e.done {
		d.problemf("%s was never done, in %d deliveries; its record is %s by attempt %d", e.name, e.tries, r.Status, r.Attempt)
		return
	}
	if r.Status != claim.StatusCompleted {
		d.problemf("%s was done, and its record is %q", e.name, r.Status)
	}
	want := 0
	if e.tx {
		want = 1
	}
	if effects != want {
		d.problemf("%s has %d effects, want %d", e.name, effects, want)
	}
	said := slices.Compact(slices.Sorted(slices.Values(d.executed[e.name])))
	if len(said) > 1 {
		d.problemf("%s was completed by %d attempts: %v", e.name, len(said), said)
	} else if len(said) == 1 && said[0] != r.AttemptID { // none: its process died before it could say so
		d.problemf("%s was completed by attempt %s, and its record is attempt %s's", e.name, said[0], r.AttemptID)
	}
}
