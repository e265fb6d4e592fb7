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

// effects counts what bodies of transactions did.
func effects(n *int) func(context.Context) error {
	return func(context.Context) error { *n++; return nil }
}

func TestAnEffectIsCommittedWithItsCompletion(t *testing.T) {
	for name, tt := range map[string]struct {
		set    func(*memclaim.Store)
		after  func(context.Context) error
		panics bool
	}{
		"plainly":                         {func(*memclaim.Store) {}, nothing, false},
		"an error after it":               {func(*memclaim.Store) {}, fails, false},
		"a panic after it":                {func(*memclaim.Store) {}, nothing, true},
		"committed, reply lost":           {func(s *memclaim.Store) { s.After(times(1, memclaim.Transact, errWire)) }, nothing, false},
		"commit lost, sent again":         {func(s *memclaim.Store) { s.Before(times(1, memclaim.Transact, errWire)) }, nothing, false},
		"conflict, sent again":            {func(s *memclaim.Store) { s.Before(times(2, memclaim.Transact, claim.ErrConflict)) }, nothing, false},
		"rolled back by a conflict":       {func(s *memclaim.Store) { s.Before(times(1, memclaim.Transact, claim.RolledBack(claim.ErrConflict))) }, nothing, false},
		"reply lost, first read-back too": {func(s *memclaim.Store) { s.After(times(2, "", errWire)) }, nothing, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				n := 0
				res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
					tt.set(b.store)

					for range 2 { // the second finds it completed
						if err := memclaim.CompleteTx(ctx, effects(&n)); err != nil {
							b.Errorf("complete: %v", err)
						}
					}

					if tt.panics {
						panic("after the commit")
					}

					return tt.after(ctx)
				})
				b.want(res, claim.OutcomeExecuted)
				b.wantStatus(claim.StatusCompleted)

				if n != 1 {
					b.Errorf("%d effects, want 1", n)
				}
			})
		})
	}
}

func TestAResultLeftInTheBodyIsStoredWithTheCompletion(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(times(1, memclaim.Transact, errWire)) // so that the body's second round counts

		round := 0
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			a, _ := claim.FromContext(ctx)
			if err := a.SetResult([]byte("before")); err != nil {
				b.Error(err)
			}

			return memclaim.CompleteTx(ctx, func(context.Context) error {
				round++

				return a.SetResult(fmt.Appendf(nil, "body %d", round))
			})
		})
		b.want(res, claim.OutcomeExecuted)

		if stored := b.wantStatus(claim.StatusCompleted); string(stored.Result) != "body 1" || string(res.Record.Result) != "body 1" {
			b.Errorf("stored %q, returned %q", stored.Result, res.Record.Result)
		}
	})
}

func TestABodyThatFailsIsRolledBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			return memclaim.CompleteTx(ctx, fails)
		})
		b.want(res, claim.OutcomeReleased)

		if !errors.Is(res.Err, errWork) {
			b.Errorf("error %v", res.Err)
		}
	})
}

func TestALoserCommitsNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		n := 0
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			b.store.Put(runID, claim.Record{Status: claim.StatusCompleted, AttemptID: "other", Attempt: 2, Rev: 2})

			err := memclaim.CompleteTx(ctx, effects(&n))
			if !errors.Is(err, claim.ErrLost) || !errors.Is(context.Cause(ctx), claim.ErrLost) {
				b.Errorf("complete: %v, cause: %v", err, context.Cause(ctx))
			}

			return err
		})
		b.want(res, claim.OutcomeDuplicate)

		if n != 0 {
			b.Errorf("%d effects", n)
		}
	})
}

func TestACommitThatStaysOpenIsFoundAtTheEnd(t *testing.T) {
	inBubble(t, func(b *bubble) {
		n := 0
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			down := unreachable(3 * time.Second)
			b.store.After(func(ctx context.Context, v memclaim.Verb, id string) error { return down(ctx, v, id) })

			err := memclaim.CompleteTx(ctx, effects(&n))
			if !errors.Is(err, claim.ErrAmbiguous) {
				b.Errorf("complete: %v", err)
			}

			return err
		})
		b.want(res, claim.OutcomeExecuted)

		if n != 1 {
			b.Errorf("%d effects", n)
		}
	})
}

func TestATransactionPausesRenewals(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
				if v == memclaim.Transact {
					time.Sleep(40 * time.Second)
				}

				return nil
			})

			return memclaim.CompleteTx(ctx, nothing)
		})
		b.want(res, claim.OutcomeExecuted)

		if n := b.events.count(claim.EventRenewed); n != 0 {
			b.Errorf("%d renewals during the transaction", n)
		}
	})
}

func TestNothingIsCommittedPastTheEnd(t *testing.T) {
	inBubble(t, func(b *bubble) {
		n := 0
		b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			time.Sleep(lease)

			err := memclaim.CompleteTx(context.WithoutCancel(ctx), effects(&n))
			if !errors.Is(err, claim.ErrLeaseEnded) {
				b.Errorf("complete: %v", err)
			}

			return err
		})

		if n != 0 {
			b.Errorf("%d effects", n)
		}
	})
}

func TestCompleteTxNeedsAnAttemptOfItsStore(t *testing.T) {
	inBubble(t, func(b *bubble) {
		if err := memclaim.CompleteTx(b.Context(), nothing); !errors.Is(err, claim.ErrNoAttempt) {
			b.Errorf("without an attempt: %v", err)
		}

		other := claim.New(wrapped{b.store})
		other.Do(b.Context(), proposal(), func(ctx context.Context) error {
			want := "memclaim.CompleteTx: the claim of this attempt is held in forgetful, not in a store of this package"
			if err := memclaim.CompleteTx(ctx, nothing); fmt.Sprint(err) != want {
				b.Errorf("in another store: %v", err)
			}

			return nil
		})
	})
}

// wrapped is a store of another kind, which may lose claims.
type wrapped struct{ claim.Store }

func (wrapped) Caps() claim.Caps { return claim.Caps{Store: "forgetful"} }

func TestAtMostOnceNeedsAStoreThatKeepsClaims(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.AtMostOnce = true

		res := claim.New(wrapped{b.store}).Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		want := "policy cannot be honoured: at_most_once needs a store that keeps claims over a failover, forgetful does not"
		if fmt.Sprint(res.Err) != want {
			b.Errorf("error %v", res.Err)
		}
	})
}

func TestAResultTooLargeIsRefused(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			a, _ := claim.FromContext(ctx)
			if err := a.SetResult(make([]byte, memclaim.MaxResult+1)); !errors.Is(err, claim.ErrTooLarge) {
				b.Errorf("set: %v", err)
			}

			return nil
		})
	})
}

// TestATransactionWithinAnotherIsRefused: it would wait for the one that waits for it, until the lease ends.
func TestATransactionWithinAnotherIsRefused(t *testing.T) {
	inBubble(t, func(b *bubble) {
		n, began := 0, time.Now()
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			err := memclaim.CompleteTx(ctx, func(ctx context.Context) error {
				inner := memclaim.CompleteTx(ctx, effects(&n))
				if !errors.Is(inner, claim.ErrNested) {
					b.Errorf("within another: %v", inner)
				}

				return inner
			})
			if !errors.Is(err, claim.ErrNested) {
				b.Errorf("the outer one: %v", err)
			}

			return memclaim.CompleteTx(ctx, effects(&n)) // nothing is left of the two
		})
		b.want(res, claim.OutcomeExecuted)

		if n != 1 || time.Since(began) != 0 {
			b.Errorf("%d effects after %v, want one at once", n, time.Since(began))
		}
	})
}
