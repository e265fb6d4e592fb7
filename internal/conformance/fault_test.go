package conformance_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// faults are those that a caller gets over by itself, by reading back.
func faults() map[string]conformance.Fault {
	return map[string]conformance.Fault{
		"request lost": conformance.RequestLost, "reply lost": conformance.ReplyLost, "applied late": conformance.Late,
		"connection reset": conformance.Reset, "contended": conformance.Storm, "slow": conformance.Slow,
		"resent by the client": conformance.Resent,
	}
}

// once is a fault of the first call that which picks.
func once(fault conformance.Fault, which func(conformance.Call) bool) func(conformance.Call) conformance.Fault {
	var done atomic.Bool

	return func(c conformance.Call) conformance.Fault {
		if which(c) && done.CompareAndSwap(false, true) {
			return fault
		}

		return conformance.None
	}
}

// until is a fault of the first n calls.
func until(n int32, fault conformance.Fault) func(conformance.Call) conformance.Fault {
	var calls atomic.Int32

	return func(conformance.Call) conformance.Fault {
		if calls.Add(1) <= n {
			return fault
		}

		return conformance.None
	}
}

func writes(verb string, status claim.Status) func(conformance.Call) bool {
	return func(c conformance.Call) bool { return c.Verb == verb && c.Record.Status == status }
}

// faultCase is one write that a fault can hit.
type faultCase struct {
	write   func(conformance.Call) bool
	dead    bool // an attempt died before, its lease is over
	err     error
	outcome claim.Outcome
	status  claim.Status
}

func faultCases() map[string]faultCase {
	return map[string]faultCase{
		"claim": {
			write: writes("insert", claim.StatusInProgress), outcome: claim.OutcomeExecuted, status: claim.StatusCompleted,
		},
		"takeover": {
			write: writes("swap", claim.StatusInProgress), dead: true, outcome: claim.OutcomeExecuted, status: claim.StatusCompleted,
		},
		"complete": {
			write: writes("swap", claim.StatusCompleted), outcome: claim.OutcomeExecuted, status: claim.StatusCompleted,
		},
		"release": {
			write: writes("swap", claim.StatusReleased), err: errEffect, outcome: claim.OutcomeReleased, status: claim.StatusReleased,
		},
		"fail": {
			write: writes("swap", claim.StatusFailed), err: claim.Permanent(errEffect), outcome: claim.OutcomeFailed,
			status: claim.StatusFailed,
		},
	}
}

func TestEachWriteGetsOverEachFault(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := start(t)
			store := s.open(t)

			for write, c := range faultCases() {
				for kind, fault := range faults() {
					t.Run(write+" "+kind, func(t *testing.T) {
						t.Parallel()
						testFault(t, store, c, fault)
					})
				}
			}
		})
	}
}

func testFault(t *testing.T, store claim.Store, c faultCase, fault conformance.Fault) {
	t.Helper()

	p := proposal(time.Minute)
	if c.dead {
		abandon(t, store, p)
	}

	faulty := conformance.NewFaulty(store, 50*time.Millisecond, once(fault, c.write))
	ran := 0

	got := claimer(faulty).Do(t.Context(), p, func(context.Context) error {
		ran++

		return c.err
	})
	if got.Outcome != c.outcome || ran != 1 {
		t.Errorf("%s (%v) after %d runs of the work, want %s after one", got.Outcome, got.Err, ran, c.outcome)
	}

	faulty.Wait() // what comes late must change nothing

	found, err := store.Get(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}

	if found.Status != c.status || found.AttemptID != got.AttemptID {
		t.Errorf("the record is %s by %s, want %s by %s", found.Status, found.AttemptID, c.status, got.AttemptID)
	}
}

func TestAStormOfFaultsIsGotOver(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := start(t).open(t)

			for kind, fault := range map[string]conformance.Fault{
				"contended": conformance.Storm, "reset": conformance.Reset, "replies lost": conformance.ReplyLost,
			} {
				t.Run(kind, func(t *testing.T) {
					t.Parallel()

					faulty := conformance.NewFaulty(store, 0, until(6, fault))

					got := claimer(faulty).Do(t.Context(), proposal(time.Minute), func(context.Context) error { return nil })
					if got.Outcome != claim.OutcomeExecuted || got.Record.Attempt != 1 {
						t.Errorf("%s (%v) by attempt %d", got.Outcome, got.Err, got.Record.Attempt)
					}
				})
			}
		})
	}
}

// TestAClaimThatIsNeverAnsweredIsReleased: the store has the claim, the delivery gets no word in time and runs nothing.
func TestAClaimThatIsNeverAnsweredIsReleased(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := start(t).open(t)
			faulty := conformance.NewFaulty(store, 0, once(conformance.Hang, writes("insert", claim.StatusInProgress)))
			c := claim.New(faulty, claim.WithLogger(slog.New(slog.DiscardHandler)),
				claim.WithStoreTimeout(3*time.Second))
			p := proposal(time.Minute)

			got := c.Do(t.Context(), p, func(context.Context) error {
				t.Error("the work ran")

				return nil
			})
			if got.Outcome != claim.OutcomeUnavailable || !errors.Is(got.Err, claim.ErrAmbiguous) {
				t.Fatalf("%s (%v), want unavailable", got.Outcome, got.Err)
			}

			eventually(t, "the claim to be released in the background", func() bool {
				found, err := store.Get(t.Context(), p.ID)
				if err != nil {
					t.Fatal(err)
				}

				return found.Status == claim.StatusReleased && found.Counted == 0
			})

			if err := c.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}

			if got := claimer(store).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeExecuted {
				t.Errorf("the next delivery: %s (%v)", got.Outcome, got.Err)
			}
		})
	}
}
