package claim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
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
		"reply to the last try lost": {func(s *memclaim.Store) {
			s.Before(times(2, memclaim.Transact, errWire))
			s.After(commits(1))
		}, nothing, false},
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

// commits fails the replies to the first n transactions.
func commits(n int) memclaim.Hook { return times(n, memclaim.Transact, errWire) }

// TestWhatIsCommittedNeedsTheStoreNoMore: the delivery of an effect that is there must not be answered as if it were not recorded.
func TestWhatIsCommittedNeedsTheStoreNoMore(t *testing.T) {
	inBubble(t, func(b *bubble) {
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			err := memclaim.CompleteTx(ctx, nothing)
			b.store.Before(unreachable(time.Hour))

			return err
		})
		b.want(res, claim.OutcomeExecuted)
	})
}

// TestACommitThatStaysOpenDoesNotEndTheWork: a renewal then finds the attempt completed by itself, which is no loss.
func TestACommitThatStaysOpenDoesNotEndTheWork(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			b.store.After(unreachable(3 * time.Second))

			if err := memclaim.CompleteTx(ctx, nothing); !errors.Is(err, claim.ErrAmbiguous) {
				b.Errorf("complete: %v", err)
			}

			time.Sleep(lease / 2)

			return claim.Check(ctx)
		})
		b.want(res, claim.OutcomeExecuted)

		if res.Err != nil {
			b.Errorf("the work ended by %v", res.Err)
		}
	})
}

func TestATransactionThatAlwaysConflictsIsGivenUp(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var tries []time.Time

		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
				if v != memclaim.Transact {
					return nil
				}

				tries = append(tries, time.Now())

				return claim.ErrConflict
			})

			return memclaim.CompleteTx(ctx, nothing)
		})
		b.want(res, claim.OutcomeReleased)

		if len(tries) != 3 || tries[1].Sub(tries[0]) < 20*time.Millisecond || tries[2].Sub(tries[1]) < 40*time.Millisecond {
			b.Errorf("tried at %v, want three times, with longer and longer pauses", tries)
		}

		if !errors.Is(res.Err, claim.ErrConflict) {
			b.Errorf("error %v", res.Err)
		}
	})
}

// TestATransactionHeedsItsOwnContext, which need not be the work's.
func TestATransactionHeedsItsOwnContext(t *testing.T) {
	for name, tt := range map[string]struct {
		ctx     func(ctx context.Context) (context.Context, context.CancelFunc)
		pause   time.Duration // of the one try, which conflicts
		err     error
		commits int
	}{
		"ended before it": {
			func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) },
			0, context.DeadlineExceeded, 0,
		},
		"not ended with the lease": {
			func(context.Context) (context.Context, context.CancelFunc) { return context.Background(), func() {} },
			lease, claim.ErrLeaseEnded, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.claimer.Do(b.Context(), proposal(), func(work context.Context) error {
					a, _ := claim.FromContext(work)

					ctx, cancel := tt.ctx(work)
					defer cancel()

					commits := 0
					err := a.Transact(ctx, func(context.Context, claim.Transition) error {
						commits++

						time.Sleep(tt.pause)

						return claim.ErrConflict
					})
					if !errors.Is(err, tt.err) || commits != tt.commits {
						b.Errorf("%d commits, then %v", commits, err)
					}

					return err
				})
			})
		})
	}
}

func TestATransactionWaitsForARenewalNoLongerThanEitherContext(t *testing.T) {
	for name, shutdown := range map[string]bool{"its own": false, "that of the work": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Renew = true

				b.store.Before(func(ctx context.Context, v memclaim.Verb, _ string) error {
					if v == memclaim.Swap {
						<-ctx.Done()
					}

					return ctx.Err()
				})

				n := 0
				down := make(chan error, 1)
				b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
					time.Sleep(lease/3 + 500*time.Millisecond) // the renewal is under way, and hangs

					wait, cancel := context.WithCancel(context.WithoutCancel(ctx))
					defer cancel()

					want := context.Canceled
					time.AfterFunc(time.Second, func() {
						if shutdown {
							down <- b.claimer.Shutdown(b.Context())
						} else {
							cancel()
							down <- nil
						}
					})

					if shutdown {
						want = claim.ErrShutdown
					}

					began := time.Now()
					if err := memclaim.CompleteTx(wait, effects(&n)); !errors.Is(err, want) || time.Since(began) != time.Second {
						b.Errorf("after %v: %v, want %v", time.Since(began), err, want)
					}

					b.store.Before(nil)

					return nil
				})

				if err := <-down; n != 0 || err != nil {
					b.Errorf("%d effects; shutdown: %v", n, err)
				}
			})
		})
	}
}

// TestATransactionIsMadeOverARenewalThatNobodySaw: it learns of it, and is run again over what the renewal left.
func TestATransactionIsMadeOverARenewalThatNobodySaw(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.unseenRenewal()

		n := 0
		b.want(b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			time.Sleep(lease/3 + 4*time.Second)

			return memclaim.CompleteTx(ctx, effects(&n))
		}), claim.OutcomeExecuted)

		if r := b.wantStatus(claim.StatusCompleted); r.Rev != 3 || n != 1 {
			b.Errorf("revision %d, want that after the claim and the renewal; %d effects", r.Rev, n)
		}
	})
}

// TestATransactionThatIsLeftBehindIsWaitedFor, within the time that the end of an attempt has.
func TestATransactionThatIsLeftBehindIsWaitedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		takes   time.Duration
		away    bool // the store, afterwards
		outcome claim.Outcome
		status  claim.Status
		took    time.Duration
	}{
		"and rolled back":         {6 * time.Second, false, claim.OutcomeReleased, claim.StatusReleased, 6 * time.Second},
		"and the store goes away": {6 * time.Second, true, claim.OutcomeReleased, claim.StatusInProgress, 10 * time.Second},
		"without an end":          {time.Minute, false, claim.OutcomeUnrecorded, claim.StatusInProgress, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				began := time.Now()
				left := make(chan error, 1)
				res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
					a, _ := claim.FromContext(ctx)

					go func() {
						left <- a.Transact(ctx, func(context.Context, claim.Transition) error {
							time.Sleep(tt.takes)

							if tt.away {
								b.store.Before(unreachable(time.Hour))
							}

							return claim.RolledBack(errWork)
						})
					}()

					synctest.Wait()

					return errWork
				})
				b.want(res, tt.outcome)

				if took := time.Since(began); took != tt.took || !errors.Is(res.Err, errWork) {
					b.Errorf("recorded after %v, want %v; error %v", took, tt.took, res.Err)
				}

				if tt.outcome == claim.OutcomeUnrecorded && !strings.Contains(res.Err.Error(), "its transaction has not") {
					b.Errorf("error %v", res.Err)
				}

				b.store.Before(nil)
				b.wantStatus(tt.status)

				if err := <-left; !errors.Is(err, errWork) {
					b.Errorf("the transaction: %v", err)
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

func TestAResultIsKeptAsItWasLeft(t *testing.T) {
	inBubble(t, func(b *bubble) {
		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			a, _ := claim.FromContext(ctx)
			result := bytes.Repeat([]byte("x"), memclaim.MaxResult) // the most that is kept
			err := a.SetResult(result)
			result[0] = 'y' // a buffer that is used again

			return err
		})
		b.want(res, claim.OutcomeExecuted)

		if got := b.record().Result; len(got) != memclaim.MaxResult || got[0] != 'x' {
			b.Errorf("%d bytes are kept, beginning with %q", len(got), got[:1])
		}
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
