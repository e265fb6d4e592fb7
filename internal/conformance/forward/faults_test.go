package forward_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	world "github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
)

// Thousands of runs meet every fault there is, at every call, with processes that die: each has one execution in the end, and its
// record names it.
func TestEachRunStartsOneExecutionWhateverIsLost(t *testing.T) {
	t.Parallel()
	const (
		runs  = 700
		every = 10 * time.Minute
	)
	for _, kind := range []string{"workflows", "run_job", "cloud_build"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world.NewWorld(uint64(len(kind)))
				w.FailLists = 0.1
				w.Choose = func(rng *rand.Rand) world.Fault { return world.Fault(rng.IntN(int(world.Late) + 1)) }
				target := connect(t, w)[kind]
				rng := rand.New(rand.NewPCG(1, 2))
				var mu sync.Mutex
				f := &fleet{t: t, target: target, store: claimtest.NewStore(), dies: func() bool {
					mu.Lock()
					defer mu.Unlock()
					return rng.IntN(20) == 0
				}}
				begin := time.Now()
				var all sync.WaitGroup
				outcomes := make([]claim.Outcome, runs)
				due := func(i int) time.Time { return begin.Add(time.Duration(i) * every) }
				for i := range runs {
					all.Go(func() {
						time.Sleep(time.Until(due(i)))
						outcomes[i] = f.run(newRun(due(i)))
					})
				}
				all.Wait()
				w.Wait()
				for i, outcome := range outcomes {
					r := newRun(due(i))
					started := w.Of(tokenOf(kind, r))
					record, err := f.store.Get(t.Context(), r.ID)
					if err != nil || len(started) != 1 || record.Status != claim.StatusCompleted || string(record.Result) != started[0].Name {
						t.Errorf("run %d: answered %s, started %d, recorded as %s with result %q (%v)", i, outcome, len(started), record.Status,
							record.Result, err)
					}
				}
				calls, lists := w.Calls()
				t.Logf("starts by fault: %v, look-ups: %d", calls, lists)
				for fault := world.None; fault <= world.Late; fault++ {
					if calls[fault] == 0 {
						t.Errorf("fault %d never happened", fault)
					}
				}
			})
		})
	}
}
