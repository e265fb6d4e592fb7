package conformance

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func (s *suite) contention() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"one of many inserts wins":       s.oneInsertWins,
		"one of many swaps wins":         s.oneSwapWins,
		"every increment is kept":        s.incrementsAreKept,
		"one of many deliveries is done": s.oneDeliveryIsDone,
		"one of many takes over":         s.oneTakesOver,
	}
}

// race calls do at once, from every client several times.
func (s *suite) race(each int, do func(client, n int)) {
	var wg sync.WaitGroup

	start := make(chan struct{})

	for client := range s.clients {
		for n := range each {
			wg.Go(func() {
				<-start
				do(client, n)
			})
		}
	}

	close(start)
	wg.Wait()
}

type written struct {
	snap claim.Snapshot
	ok   bool
	mine string
}

// wantOneWinner: one write got through, and every other was told of it.
func wantOneWinner(t *testing.T, all []written) {
	t.Helper()

	var winner *written

	for i := range all {
		if all[i].ok {
			if winner != nil {
				t.Fatalf("two winners: %s and %s", winner.mine, all[i].mine)
			}

			winner = &all[i]
		}
	}

	if winner == nil {
		t.Fatal("nobody won")
	}

	for _, w := range all {
		if w.snap.AttemptID != winner.mine || w.snap.Version != winner.snap.Version {
			t.Errorf("attempt %s was told of %s at %q, the winner is %s at %q", w.mine, w.snap.AttemptID, w.snap.Version, winner.mine,
				winner.snap.Version)
		}
	}
}

func (s *suite) oneInsertWins(t *testing.T) {
	s.writers(t, func(client int, id string, r claim.Record, _ claim.Snapshot) (claim.Snapshot, bool, error) {
		return s.clients[client].Insert(t.Context(), id, r)
	}, false)
}

func (s *suite) oneSwapWins(t *testing.T) {
	s.writers(t, func(client int, id string, r claim.Record, old claim.Snapshot) (claim.Snapshot, bool, error) {
		return s.clients[client].Swap(t.Context(), id, old.Version, r)
	}, true)
}

func (s *suite) writers(t *testing.T, write func(int, string, claim.Record, claim.Snapshot) (claim.Snapshot, bool, error), onto bool) {
	t.Helper()

	const each = 4

	id, all := newID(), make([]written, processes*each)

	var old claim.Snapshot
	if onto {
		old = s.inserted(t, id, newAttempt())
	}

	s.race(each, func(client, n int) {
		r := newAttempt()

		snap, ok, err := unconflicted(t.Context(), func() (claim.Snapshot, bool, error) { return write(client, id, r, old) })
		if err != nil {
			t.Errorf("client %d: %v", client, err)
		}

		// A false may be one's own write, resent on the way: it is one's own all the same.
		all[client*each+n] = written{snap: snap, ok: ok || snap.AttemptID == r.AttemptID, mine: r.AttemptID}
	})

	wantOneWinner(t, all)
}

func (s *suite) incrementsAreKept(t *testing.T) {
	const each = 5

	id := newID()
	s.inserted(t, id, claim.Record{Status: claim.StatusReleased, AttemptID: newID()[:32], Rev: 1})
	s.race(1, func(client, _ int) {
		for range each {
			for ok := false; !ok; {
				old, err := s.clients[client].Get(t.Context(), id)
				if err != nil {
					t.Errorf("client %d: %v", client, err)

					return
				}

				r := old.Record
				r.AttemptID, r.Attempt, r.Rev = newID()[:32], old.Attempt+1, old.Rev+1

				snap, won, err := unconflicted(t.Context(), func() (claim.Snapshot, bool, error) {
					return s.clients[client].Swap(t.Context(), id, old.Version, r)
				})
				if err != nil {
					t.Errorf("client %d: %v", client, err)

					return
				}

				ok = won || snap.AttemptID == r.AttemptID
			}
		}
	})

	if got := s.get(t, 0, id).Attempt; got != processes*each {
		t.Errorf("%d increments are left of %d", got, processes*each)
	}
}

func (s *suite) oneDeliveryIsDone(t *testing.T) {
	s.deliveries(t, s.proposal(time.Minute))
}

func (s *suite) oneTakesOver(t *testing.T) {
	p := s.proposal(time.Minute)
	s.dead(t, p, s.lease)
	s.deliveries(t, p)
}

// deliveries delivers a run many times at once: one executes it, once.
func (s *suite) deliveries(t *testing.T, p claim.Proposal) {
	t.Helper()

	const each = 4

	var (
		mu   sync.Mutex
		runs int
		got  = map[claim.Outcome]int{}
	)

	claimers := s.claimers()
	s.race(each, func(client, _ int) {
		res := claimers[client].Do(t.Context(), p, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()

			runs++

			return nil
		})

		mu.Lock()
		defer mu.Unlock()

		got[res.Outcome]++
		if res.Outcome == claim.OutcomeUnavailable {
			t.Error(res.Err)
		}
	})

	others := got[claim.OutcomeInProgress] + got[claim.OutcomeDuplicate]
	if runs != 1 || got[claim.OutcomeExecuted] != 1 || others != processes*each-1 {
		t.Errorf("%d executions; outcomes %v", runs, got)
	}
}
