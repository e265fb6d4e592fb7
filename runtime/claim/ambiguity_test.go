package claim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

var errWire = errors.New("connection reset")

// times fails the first n calls of a verb with err. All verbs: the empty one.
func times(n int, verb memclaim.Verb, err error) memclaim.Hook {
	return func(_ context.Context, v memclaim.Verb, _ string) error {
		if n > 0 && (verb == "" || v == verb) {
			n--

			return err
		}

		return nil
	}
}

// unreachable fails every call until a time from now.
func unreachable(d time.Duration) memclaim.Hook {
	until := time.Now().Add(d)

	return func(context.Context, memclaim.Verb, string) error {
		if time.Now().Before(until) {
			return errWire
		}

		return nil
	}
}

func TestWritesThatFailAreReadBack(t *testing.T) {
	busy := fmt.Errorf("deadlock: %w", claim.ErrConflict)
	for name, set := range map[string]func(*memclaim.Store){
		"insert lost":                   func(s *memclaim.Store) { s.Before(times(1, memclaim.Insert, errWire)) },
		"insert applied, reply lost":    func(s *memclaim.Store) { s.After(times(1, memclaim.Insert, errWire)) },
		"insert lost, read-backs too":   func(s *memclaim.Store) { s.Before(times(4, "", errWire)) },
		"insert applied, twice no read": func(s *memclaim.Store) { s.After(times(3, "", errWire)) },
		"insert busy":                   func(s *memclaim.Store) { s.Before(times(5, memclaim.Insert, busy)) },
		"complete lost":                 func(s *memclaim.Store) { s.Before(times(1, memclaim.Swap, errWire)) },
		"complete applied, reply lost":  func(s *memclaim.Store) { s.After(times(1, memclaim.Swap, errWire)) },
		"complete busy":                 func(s *memclaim.Store) { s.Before(times(5, memclaim.Swap, busy)) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				set(b.store)

				ran := 0
				b.want(b.claimer.Do(b.Context(), proposal(), func(context.Context) error { ran++; return nil }), claim.OutcomeExecuted)

				if r := b.wantStatus(claim.StatusCompleted); ran != 1 || r.Attempt != 1 || r.Counted != 1 {
					b.Errorf("ran %d times; %+v", ran, r)
				}

				if b.events.count(claim.EventStoreError) == 0 {
					b.Error("no store_error was observed")
				}
			})
		})
	}
}

func TestATakeoverWhoseReplyIsLostIsReadBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(proposal())
		time.Sleep(lease)
		b.store.After(times(1, memclaim.Swap, errWire))

		res := b.claimer.Do(b.Context(), proposal(), nothing)
		b.want(res, claim.OutcomeExecuted)

		if res.Attempt != 2 {
			b.Errorf("attempt %d, want 2", res.Attempt)
		}
	})
}

func TestAnAmbiguousClaimIsReleasedLater(t *testing.T) {
	for name, late := range map[string]time.Duration{"there at once": 0, "there later": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				wire := &tap{Store: b.store}
				c := claim.New(wire)
				down := unreachable(10 * time.Second)
				b.store.Before(down)

				if late == 0 { // applied, and then nothing comes through any more
					b.store.Before(func(ctx context.Context, v memclaim.Verb, id string) error {
						if v == memclaim.Insert {
							return nil
						}

						return down(ctx, v, id)
					})
					b.store.After(times(1, memclaim.Insert, errWire))
				}

				begin := time.Now()
				res := c.Do(b.Context(), proposal(), b.mustNotRun)
				b.want(res, claim.OutcomeUnavailable)

				if took := time.Since(begin); took > 2*time.Second || !errors.Is(res.Err, claim.ErrAmbiguous) {
					b.Errorf("answered after %v: %v", took, res.Err)
				}

				if late > 0 { // the network delivers the insert after all
					time.Sleep(late)

					b.store.Put(runID, claim.Record{
						Status: claim.StatusInProgress, AttemptID: wire.last(), Attempt: 1, Counted: 1, Rev: 1, Lease: lease,
					})
				}

				time.Sleep(20 * time.Second)

				if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 {
					b.Errorf("released later: %+v", r)
				}

				if err := c.Shutdown(b.Context()); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

func TestALostSwapIsDecidedAnew(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(proposal())
		time.Sleep(lease)

		rivals := 0
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap && rivals < 2 { // a rival claims and releases first
				rivals++
				b.store.Put(runID, claim.Record{Status: claim.StatusReleased, AttemptID: fmt.Sprint("rival", rivals), Attempt: rivals + 1, Rev: 9})
			}

			return nil
		})

		res := b.claimer.Do(b.Context(), proposal(), nothing)
		b.want(res, claim.OutcomeExecuted)

		if res.Attempt != 4 {
			b.Errorf("attempt %d, want 4", res.Attempt)
		}
	})
}

func TestThreeLostSwapsAreInProgress(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(proposal())
		time.Sleep(lease)

		rivals := 0
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap {
				rivals++
				b.store.Put(runID, claim.Record{Status: claim.StatusReleased, AttemptID: fmt.Sprint("rival", rivals), Attempt: 1, Rev: 9})
			}

			return nil
		})

		res := b.claimer.Do(b.Context(), proposal(), b.mustNotRun)
		b.want(res, claim.OutcomeInProgress)

		if rivals != 3 || res.RetryAfter <= 0 {
			b.Errorf("%d swaps, retry after %v", rivals, res.RetryAfter)
		}
	})
}

func TestWorkThatCannotBeRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		work    func(context.Context) error
		outcome claim.Outcome
	}{
		"done":      {nothing, claim.OutcomeUnrecorded},
		"failed":    {fails, claim.OutcomeReleased},
		"permanent": {func(context.Context) error { return claim.Permanent(errWork) }, claim.OutcomeUnrecorded},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				begin := time.Now()
				res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
					b.store.Before(unreachable(time.Minute))

					return tt.work(ctx)
				})
				b.want(res, tt.outcome)

				if took := time.Since(begin); took != 10*time.Second || !errors.Is(res.Err, claim.ErrAmbiguous) {
					b.Errorf("answered after %v: %v", took, res.Err)
				}

				b.store.Before(nil)
				b.wantStatus(claim.StatusInProgress)
			})
		})
	}
}

func TestAReleaseThatAnOperatorMadeIsSuccess(t *testing.T) {
	inBubble(t, func(b *bubble) {
		res := b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
			r := b.record().Record
			r.Status, r.Rev = claim.StatusReleased, r.Rev+1
			b.store.Put(runID, r)

			return errWork
		})
		b.want(res, claim.OutcomeReleased)
	})
}

func TestAWithdrawalThatCannotBeConfirmedIsUnavailable(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Admit = func(time.Time) bool {
			b.store.Before(unreachable(10 * time.Second))

			return false
		}
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(20 * time.Second)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 {
			b.Errorf("withdrawn later: %+v", r)
		}
	})
}
