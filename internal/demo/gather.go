package demo

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// gather puts together, by run, what the scheduler delivered, what the claim store says and what effects there are.
func (s *stage) gather(ctx context.Context, seen Evidence) (Evidence, error) {
	runs := map[string]*RunSeen{}

	var first, last time.Time

	for _, scenario := range []Scenario{LostReply, Duplicates, Killed, Forced} {
		for _, d := range s.cloud.Deliveries(jobName(scenario)) {
			name, err := runName(scenario, d.ScheduleTime, d.Forced)
			if err != nil {
				return seen, err
			}

			r := runs[name]
			if r == nil {
				r = &RunSeen{Scenario: scenario, Name: name, Forced: d.Forced}
				runs[name] = r
			}

			r.Deliveries = append(r.Deliveries, deliverySeen(d))

			if first.IsZero() || d.Started.Before(first) {
				first = d.Started
			}

			if d.Ended.After(last) {
				last = d.Ended
			}
		}
	}

	seen.Took = last.Sub(first)

	if err := s.addStored(ctx, runs); err != nil {
		return seen, err
	}

	seen.Runs = slices.SortedFunc(dereferenced(runs), func(a, b RunSeen) int {
		return cmp.Or(a.Deliveries[0].Started.Compare(b.Deliveries[0].Started), cmp.Compare(a.Name, b.Name))
	})

	return seen, nil
}

// addStored adds claim records and effects. A record or an effect of a run that nobody delivered is a run of its own, which the
// verdict will not accept.
func (s *stage) addStored(ctx context.Context, runs map[string]*RunSeen) error {
	of := func(name string) *RunSeen {
		if runs[name] == nil {
			runs[name] = &RunSeen{Name: name, Deliveries: []DeliverySeen{{Outcome: noAnswer}}}
		}

		return runs[name]
	}

	for snapshot, err := range s.backend.claims.List(ctx, claim.Filter{}) {
		if err != nil {
			return err
		}

		r := of(snapshot.Run)
		r.Attempts, r.Status = snapshot.Attempt, string(snapshot.Status)
	}

	effects, err := s.backend.effects(ctx)
	if err != nil {
		return err
	}

	for name, n := range effects {
		of(name).Effects = n
	}

	return nil
}

func deliverySeen(d localcloud.Delivery) DeliverySeen {
	return DeliverySeen{Started: d.Started, Ended: d.Ended, Outcome: cmp.Or(d.Outcome, noAnswer), Fault: string(d.Fault)}
}

func dereferenced(runs map[string]*RunSeen) func(func(RunSeen) bool) {
	return func(yield func(RunSeen) bool) {
		for r := range maps.Values(runs) {
			if !yield(*r) {
				return
			}
		}
	}
}
