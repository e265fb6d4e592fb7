package conformance_test

import (
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// histories is how many histories a store are checked: 200 in CI, more by -args -histories=5000.
var histories = flag.Int("histories", 200, "histories to check of each store")

func TestStoresAreLinearizable(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A database each: where transactions wait for each other, those of one history should wait for none of another.
			lanes := make([]conformance.Open, 4)
			lease := 30 * time.Millisecond
			n := *histories

			if raced {
				n /= 10
			}

			for i := range lanes {
				lanes[i] = start(t).open
			}

			conformance.Linearizable(t, lanes, n, lease)
		})
	}
}

func TestBrokenStoresAreCaught(t *testing.T) {
	t.Parallel()

	for _, defect := range []conformance.Defect{
		conformance.NoStatusFence, conformance.AttemptIDAlone, conformance.ClientClocks, conformance.TakeoverNotAtomic,
		conformance.ReleaseAfterComplete,
	} {
		t.Run(string(defect), func(t *testing.T) {
			t.Parallel()

			broken := conformance.NewBroken(defect)
			clients := make([]claim.Store, 8)

			for i := range clients {
				clients[i] = broken.Client(i)
			}

			lanes := [][]claim.Store{clients, clients, clients, clients}

			tally, err := conformance.CheckHistories(t.Context(), lanes, 200, 30*time.Millisecond)
			if !errors.Is(err, conformance.ErrNotLinearizable) {
				t.Fatalf("not caught: %v; %s", err, tally)
			}

			t.Logf("caught in the course of %s", tally)
		})
	}
}

func TestTheStoreWithoutADefectIsNotCaught(t *testing.T) {
	t.Parallel()

	broken := conformance.NewBroken("")
	open := func(*testing.T) claim.Store { return broken.Client(0) }
	conformance.Linearizable(t, []conformance.Open{open, open}, 50, 30*time.Millisecond)
}
