package claim_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

const previousID = "bdce749a727d0c6823969d2821b6f5bff953873a72f22452e9a046ea49625ff6"

// renamed is the proposal of a run that had another name before.
func renamed() claim.Proposal {
	p := proposal()
	p.Previous = &claim.Previous{ID: previousID, Run: "nightly-report/2026-10-16T12:00:00Z"}

	return p
}

// old is the proposal of a handler that knows the previous name alone.
func old() claim.Proposal {
	p := proposal()
	p.ID, p.Run = previousID, "nightly-report/2026-10-16T12:00:00Z"

	return p
}

func (b *bubble) wantBoth(previous, own claim.Status) {
	b.Helper()

	for id, want := range map[string]claim.Status{previousID: previous, runID: own} {
		snap, err := b.store.Get(b.Context(), id)
		if err != nil && (want != "" || !errors.Is(err, claim.ErrNotFound)) {
			b.Fatalf("%s: %v", id, err)
		}

		if snap.Status != want {
			b.Errorf("record %.4s is %q, want %q", id, snap.Status, want)
		}
	}
}

func TestARunWithTwoNamesIsClaimedAndFinishedUnderBoth(t *testing.T) {
	for name, tt := range map[string]struct {
		err      error
		panics   bool
		outcome  claim.Outcome
		status   claim.Status
		attempts int
		change   func(*claim.Proposal)
	}{
		"success":   {outcome: claim.OutcomeExecuted, status: claim.StatusCompleted},
		"error":     {err: errWork, outcome: claim.OutcomeReleased, status: claim.StatusReleased},
		"panic":     {panics: true, outcome: claim.OutcomeReleased, status: claim.StatusReleased},
		"permanent": {err: claim.Permanent(errWork), outcome: claim.OutcomeFailed, status: claim.StatusFailed},
		"unknown":   {err: claim.Unknown(errWork), outcome: claim.OutcomeUnknown, status: claim.StatusUnknown},
		"last of max_attempts": {
			err: errWork, outcome: claim.OutcomeFailed, status: claim.StatusFailed, change: func(p *claim.Proposal) { p.MaxAttempts = 1 },
		},
		"at most once": {
			err: errWork, outcome: claim.OutcomeUnknown, status: claim.StatusUnknown, change: func(p *claim.Proposal) { p.AtMostOnce = true },
		},
		"at most once, nothing done": {
			err: claim.NothingDone(errWork), outcome: claim.OutcomeReleased, status: claim.StatusReleased,
			change: func(p *claim.Proposal) { p.AtMostOnce = true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := renamed()
				if tt.change != nil {
					tt.change(&p)
				}

				res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
					b.wantBoth(claim.StatusInProgress, claim.StatusInProgress)

					if err := claim.Check(ctx); err != nil {
						b.Error(err)
					}

					if tt.panics {
						panic("work")
					}

					return tt.err
				})
				b.want(res, tt.outcome)
				b.wantBoth(tt.status, tt.status)

				if res.Record.Run != p.Run || b.events.count(claim.EventKind(tt.outcome)) != 1 || b.events.count(claim.EventClaimed) != 1 {
					b.Errorf("one delivery was told of as %+v, with the record of %s", b.events.list, res.Record.Run)
				}

				if tt.status == claim.StatusCompleted {
					b.want(b.claimer.Do(b.Context(), renamed(), b.mustNotRun), claim.OutcomeDuplicate)
					b.want(b.claimer.Do(b.Context(), old(), b.mustNotRun), claim.OutcomeDuplicate)
					b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeDuplicate)
				}
			})
		})
	}
}

func TestOneNameDecidesForBoth(t *testing.T) {
	for name, tt := range map[string]struct {
		before          func(b *bubble)
		outcome         claim.Outcome
		previous, own   claim.Status
		previousCounted int
		retryAfter      time.Duration
	}{
		"previous completed": {
			before:  func(b *bubble) { b.claimer.Do(b.Context(), old(), nothing) },
			outcome: claim.OutcomeDuplicate, previous: claim.StatusCompleted, previousCounted: 1,
		},
		"own completed": {
			before:  func(b *bubble) { b.claimer.Do(b.Context(), proposal(), nothing) },
			outcome: claim.OutcomeDuplicate, previous: claim.StatusCompleted, own: claim.StatusCompleted, previousCounted: 1,
		},
		"previous live": {
			before: func(b *bubble) { b.die(old()) }, outcome: claim.OutcomeInProgress, previous: claim.StatusInProgress, previousCounted: 1,
			retryAfter: lease,
		},
		"own live": {
			before: func(b *bubble) { b.die(proposal()) }, outcome: claim.OutcomeInProgress, previous: claim.StatusReleased,
			own: claim.StatusInProgress, retryAfter: lease,
		},
		"own failed": {
			before: func(b *bubble) {
				b.claimer.Do(b.Context(), proposal(), func(context.Context) error { return claim.Permanent(errWork) })
			},
			outcome: claim.OutcomeFailed, previous: claim.StatusFailed, own: claim.StatusFailed, previousCounted: 1,
		},
		"previous failed, own completed": {
			before: func(b *bubble) {
				b.claimer.Do(b.Context(), old(), func(context.Context) error { return claim.Permanent(errWork) })
				b.claimer.Do(b.Context(), proposal(), nothing)
			},
			outcome: claim.OutcomeDuplicate, previous: claim.StatusFailed, own: claim.StatusCompleted, previousCounted: 1,
		},
		"previous failed, own live": {
			before: func(b *bubble) {
				b.claimer.Do(b.Context(), old(), func(context.Context) error { return claim.Permanent(errWork) })
				b.die(proposal())
			},
			outcome: claim.OutcomeInProgress, previous: claim.StatusFailed, own: claim.StatusInProgress, previousCounted: 1, retryAfter: lease,
		},
		"own unknown": {
			before: func(b *bubble) {
				b.claimer.Do(b.Context(), proposal(), func(context.Context) error { return claim.Unknown(errWork) })
			},
			outcome: claim.OutcomeUnknown, previous: claim.StatusUnknown, own: claim.StatusUnknown, previousCounted: 1,
		},
		"previous failed": {
			before: func(b *bubble) {
				b.claimer.Do(b.Context(), old(), func(context.Context) error { return claim.Permanent(errWork) })
			},
			outcome: claim.OutcomeFailed, previous: claim.StatusFailed, previousCounted: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				tt.before(b)

				res := b.claimer.Do(b.Context(), renamed(), b.mustNotRun)
				b.want(res, tt.outcome)
				b.wantBoth(tt.previous, tt.own)

				if res.RetryAfter != tt.retryAfter {
					b.Errorf("retry after %v, want %v", res.RetryAfter, tt.retryAfter)
				}

				if snap, err := b.store.Get(b.Context(), previousID); err != nil || snap.Counted != tt.previousCounted {
					b.Errorf("%d attempts count under the previous name (%v), want %d", snap.Counted, err, tt.previousCounted)
				}
			})
		})
	}
}

// TestACrashAtAnyWriteOfTwoNamesIsMended lets the process die at each of its writes: between the two claims, in the work, and between
// the two ends.
func TestACrashAtAnyWriteOfTwoNamesIsMended(t *testing.T) {
	for name, tt := range map[string]struct {
		writes    int // that are applied before the process dies
		completed bool
	}{
		"between the claims": {1, false},
		"before the end":     {2, false},
		"between the ends":   {3, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				left := tt.writes
				b.store.Before(func(ctx context.Context, v memclaim.Verb, _ string) error {
					if left--; left < 0 && v != memclaim.Get {
						<-ctx.Done()

						return errWire
					}

					return nil
				})

				ctx, cancel := context.WithCancel(b.Context())
				dead := claim.New(b.store, claim.WithLogger(slog.New(slog.DiscardHandler)))
				done := make(chan struct{})

				go func() {
					defer close(done)
					dead.Do(ctx, renamed(), nothing)
				}()
				time.Sleep(time.Millisecond) // it has come to the write that is never made
				cancel()
				b.store.Before(nil)
				snapshot, err := b.store.Get(b.Context(), previousID)
				if err != nil || snapshot.Status != claim.StatusInProgress {
					b.Fatalf("the previous name is %q (%v), want in_progress", snapshot.Status, err)
				}

				// The process is gone: what it does from here on does not reach the store.
				b.store.Before(func(context.Context, memclaim.Verb, string) error { return errWire })
				<-done
				time.Sleep(lease)
				b.store.Before(nil)

				ran := 0
				res := b.claimer.Do(b.Context(), renamed(), func(context.Context) error { ran++; return nil })

				if tt.completed {
					b.want(res, claim.OutcomeDuplicate)
				} else {
					b.want(res, claim.OutcomeExecuted)
				}

				if (ran == 0) != tt.completed {
					b.Errorf("the work ran %d times afterwards", ran)
				}

				b.wantBoth(claim.StatusCompleted, claim.StatusCompleted)
				_ = dead.Shutdown(b.Context())
			})
		})
	}
}

func TestLostRepliesOfTwoNamesAreReadBack(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4} {
		inEach := n
		t.Run(string(rune('0'+n)), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				writes := 0
				b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
					if v == memclaim.Get {
						return nil
					}

					if writes++; writes == inEach {
						return errWire
					}

					return nil
				})

				ran := 0
				b.want(b.claimer.Do(b.Context(), renamed(), func(context.Context) error { ran++; return nil }), claim.OutcomeExecuted)
				b.wantBoth(claim.StatusCompleted, claim.StatusCompleted)

				if ran != 1 || writes != 4 {
					b.Errorf("the work ran %d times in %d writes, want once in 4", ran, writes)
				}
			})
		})
	}
}

// TestWorkDoneButNotRecordedUnderThePreviousName: who knows that name alone could do it again, so another delivery must come.
func TestWorkDoneButNotRecordedUnderThePreviousName(t *testing.T) {
	inBubble(t, func(b *bubble) {
		store := memclaim.New()
		prev := claim.New(store, claim.WithLogger(slog.New(slog.DiscardHandler)))
		p := renamed()
		p.Previous.Claimer = prev

		res := b.claimer.Do(b.Context(), p, func(context.Context) error {
			store.Before(unreachable(30 * time.Second))

			return nil
		})
		b.want(res, claim.OutcomeUnrecorded)
		b.wantStatus(claim.StatusCompleted)

		time.Sleep(lease)
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeDuplicate)

		if snap, err := store.Get(b.Context(), previousID); err != nil || snap.Status != claim.StatusCompleted {
			b.Errorf("the previous name is %q (%v)", snap.Status, err)
		}
	})
}

func TestThePreviousStoreOutOfReachRunsNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		store := memclaim.New()
		store.Before(unreachable(time.Hour))

		p := renamed()
		p.Previous.Claimer = claim.New(store)

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		if !errors.Is(res.Err, errWire) {
			b.Errorf("the error does not name the cause: %v", res.Err)
		}

		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Hour)
		defer cancel()

		if err := errors.Join(p.Previous.Claimer.Shutdown(ctx), b.claimer.Shutdown(ctx)); err != nil {
			b.Error(err)
		}
	})
}

func TestOnePreviousStoreThatIsTheStoreIsRefused(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := renamed()
		p.Previous.ID, p.Previous.Claimer = p.ID, b.another()

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		if !errors.Is(res.Err, claim.ErrPolicy) {
			b.Errorf("%v, want ErrPolicy", res.Err)
		}

		p.Previous.Claimer = nil
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
	})
}

func TestCompleteTxOfARunWithTwoNames(t *testing.T) {
	inBubble(t, func(b *bubble) {
		effects := 0
		work := func(ctx context.Context) error {
			err := memclaim.CompleteTx(ctx, func(context.Context) error { effects++; return nil })

			return errors.Join(err, errWork)
		}
		b.want(b.claimer.Do(b.Context(), renamed(), work), claim.OutcomeExecuted)
		b.wantBoth(claim.StatusCompleted, claim.StatusCompleted)

		if effects != 1 {
			b.Errorf("%d effects", effects)
		}
	})
}

// TestCompleteTxBeforeACrash: the effect is committed with the own name; the previous one lapses.
func TestCompleteTxBeforeACrash(t *testing.T) {
	for name, atMostOnce := range map[string]bool{"retried": false, "at most once": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := renamed()
				p.AtMostOnce = atMostOnce
				b.die(old())
				b.claimer.Do(b.Context(), proposal(), nothing)
				time.Sleep(lease)
				b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeDuplicate)
			})
		})
	}
}

func TestLosingThePreviousNameEndsTheWork(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := renamed()
		p.Renew = true

		began := time.Now()
		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			b.store.Delete(previousID)
			time.Sleep(time.Millisecond) // not to look at the clock when it is renewed
			<-ctx.Done()

			if after := time.Since(began); after != lease/3 {
				b.Errorf("ended after %v, want %v: then it is found lost", after, lease/3)
			}

			if err := claim.Check(ctx); !errors.Is(err, claim.ErrLost) {
				b.Errorf("Check: %v, want ErrLost", err)
			}

			if err := memclaim.CompleteTx(ctx, func(context.Context) error { return nil }); !errors.Is(err, claim.ErrLost) {
				b.Errorf("CompleteTx: %v, want ErrLost", err)
			}

			return context.Cause(ctx)
		})
		b.want(res, claim.OutcomeReleased)
		b.wantBoth("", claim.StatusReleased)
	})
}

// TestTheClaimOnThePreviousNameEndsTheWork: it was won first, so it ends first, and who knows that name alone can take the run then.
func TestTheClaimOnThePreviousNameEndsTheWork(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(slowly(runID, 1500*time.Millisecond))

		cause, after, res := b.endOf(b.claimer, renamed())
		if !errors.Is(cause, claim.ErrLeaseEnded) || after != lease-5*time.Second {
			b.Errorf("ended after %v by %v, want the end of the claim that was won first", after, cause)
		}

		b.want(res, claim.OutcomeReleased)
		b.wantBoth(claim.StatusReleased, claim.StatusReleased)
	})
}

func TestNothingIsDoneAfterASuspensionPastTheEndOfThePreviousName(t *testing.T) {
	for name, tt := range map[string]struct {
		runtime, asleep time.Duration
		cause           error
	}{
		"of its lease": {0, lease - 6*time.Second, claim.ErrLeaseEnded}, // that of the own name has a second left
		"of its time":  {30 * time.Second, 30 * time.Second, claim.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				var slept atomic.Int64

				c := b.another(claim.WithClock(func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }))
				p := renamed()
				p.Runtime = tt.runtime
				b.store.Before(slowly(runID, 1500*time.Millisecond))

				n := 0
				c.Do(b.Context(), p, func(ctx context.Context) error {
					slept.Store(int64(tt.asleep))

					if err := claim.Check(ctx); !errors.Is(err, tt.cause) {
						b.Errorf("Check: %v, want %v", err, tt.cause)
					}

					err := memclaim.CompleteTx(context.WithoutCancel(ctx), effects(&n))
					if !errors.Is(err, tt.cause) {
						b.Errorf("CompleteTx: %v, want %v", err, tt.cause)
					}

					return err
				})

				if n != 0 {
					b.Errorf("%d effects", n)
				}
			})
		})
	}
}

// slowly makes the claim of one record take its time.
func slowly(slow string, d time.Duration) memclaim.Hook {
	return func(_ context.Context, v memclaim.Verb, id string) error {
		if v == memclaim.Insert && id == slow {
			time.Sleep(d)
		}

		return nil
	}
}

func TestEachOfTwoNamesHasItsOwnTimeToBeClaimed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				time.Sleep(1500 * time.Millisecond) // of the two seconds that there are
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), renamed(), nothing), claim.OutcomeExecuted)
		b.wantBoth(claim.StatusCompleted, claim.StatusCompleted)
	})
}

func TestShutdownEndsARunWithTwoNamesUnderBoth(t *testing.T) {
	for name, elsewhere := range map[string]bool{"one store": false, "two stores": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := renamed()
				if elsewhere {
					p.Previous.Claimer = b.another()
				}

				go func() {
					time.Sleep(time.Second)

					if err := b.claimer.Shutdown(b.Context()); err != nil {
						b.Error(err)
					}
				}()

				res := b.claimer.Do(b.Context(), p, heeds)
				b.want(res, claim.OutcomeReleased)
				b.wantBoth(claim.StatusReleased, claim.StatusReleased)

				for _, id := range []string{previousID, runID} {
					if snap, err := b.store.Get(b.Context(), id); err != nil || snap.Counted != 0 {
						b.Errorf("%.4s: %d attempts count (%v), want none", id, snap.Counted, err)
					}
				}

				b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
			})
		})
	}
}

func TestAttemptsUnderThePreviousNameCount(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, before := renamed(), old()
		p.MaxAttempts, before.MaxAttempts = 2, 2
		b.want(b.claimer.Do(b.Context(), before, fails), claim.OutcomeReleased)
		b.want(b.claimer.Do(b.Context(), p, fails), claim.OutcomeFailed)
		b.wantBoth(claim.StatusFailed, claim.StatusFailed)
	})
}

func TestWorkIsToldOfAttemptsUnderThePreviousName(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(old())
		time.Sleep(lease)
		b.want(b.claimer.Do(b.Context(), renamed(), func(ctx context.Context) error {
			if a, ok := claim.FromContext(ctx); !ok || a.Number() != 2 {
				b.Errorf("attempt %d, want 2: the first may have done something", a.Number())
			}

			return nil
		}), claim.OutcomeExecuted)

		if r := b.record(); r.Attempt != 2 {
			b.Errorf("attempt %d is recorded, want 2", r.Attempt)
		}
	})
}

func TestARunThatIsNotAdmittedIsWithdrawnUnderItsPreviousName(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := renamed()
		p.Admit = func(time.Time) bool { return false }
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)
		b.wantBoth(claim.StatusReleased, "")
	})
}

func TestWhatWasNotRunLeavesNoLastWordUnderThePreviousName(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(proposal())
		b.want(b.claimer.Do(b.Context(), renamed(), b.mustNotRun), claim.OutcomeInProgress)

		if snap, err := b.store.Get(b.Context(), previousID); err != nil || snap.Status != claim.StatusReleased || snap.LastError != "" {
			b.Errorf("the previous name is %q, its last error %q (%v)", snap.Status, snap.LastError, err)
		}
	})
}

func TestADeliveryThatCameTooLongAgoRunsNothingUnderEitherName(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := renamed()
		p.Arrived, p.Runtime = time.Now(), 10*time.Second

		time.Sleep(10 * time.Second)

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)
		b.wantBoth(claim.StatusReleased, "")

		if !errors.Is(res.Err, claim.ErrTimeout) {
			b.Errorf("error %v", res.Err)
		}
	})
}

func TestEachOfTwoRecordsOfAForcedRunHasItsOwnHorizon(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := renamed()
		p.Horizon, p.Previous.Horizon = time.Hour, 2*time.Hour
		b.want(b.claimer.Do(b.Context(), p, nothing), claim.OutcomeExecuted)

		for id, want := range map[string]time.Duration{runID: time.Hour, previousID: 2 * time.Hour} {
			if snap, err := b.store.Get(b.Context(), id); err != nil || !snap.ExpireAt.Equal(time.Now().Add(want)) {
				b.Errorf("%.4s ends at %v (%v), want in %v", id, snap.ExpireAt, err, want)
			}
		}
	})
}

// twoStores is the proposal of a run whose records were kept in another store before.
func (b *bubble) twoStores() (p claim.Proposal, previous *memclaim.Store) {
	previous = memclaim.New()
	p = renamed()
	p.Previous.Claimer = claim.New(previous, claim.WithLogger(slog.New(slog.DiscardHandler)))

	return p, previous
}

func (b *bubble) wantPrevious(store *memclaim.Store, status claim.Status, counted int) {
	b.Helper()

	snap, err := store.Get(b.Context(), previousID)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		b.Fatal(err)
	}

	if snap.Status != status || snap.Counted != counted {
		b.Errorf("under the previous name it is %q with %d attempts, want %q with %d", snap.Status, snap.Counted, status, counted)
	}
}

// TestWorkDoneButNotRecordedUnderTheOwnNameIsDoneUnderThePrevious: so much is known, and keeps it from being done again.
func TestWorkDoneButNotRecordedUnderTheOwnNameIsDoneUnderThePrevious(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			b.store.Before(unreachable(time.Minute))

			return nil
		}), claim.OutcomeUnrecorded)
		b.wantPrevious(previous, claim.StatusCompleted, 1)

		time.Sleep(time.Hour)
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeDuplicate)
	})
}

func TestATransactionWithoutAnEndLeavesThePreviousNameToAnOperator(t *testing.T) {
	inBubble(t, func(b *bubble) {
		left := make(chan error, 1)
		b.want(b.claimer.Do(b.Context(), renamed(), func(ctx context.Context) error {
			a, _ := claim.FromContext(ctx)

			go func() {
				left <- a.Transact(ctx, func(context.Context, claim.Transition) error {
					time.Sleep(30 * time.Second)

					return claim.RolledBack(errWork)
				})
			}()

			time.Sleep(time.Second)

			return nil
		}), claim.OutcomeUnrecorded)
		b.wantBoth(claim.StatusUnknown, claim.StatusInProgress)

		if err := <-left; !errors.Is(err, errWork) {
			b.Error(err)
		}
	})
}

func TestLosingTheOwnNameGivesThePreviousOneBackOnlyWhereItMayBeDoneAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		atMostOnce bool
		status     claim.Status
	}{
		"may":          {false, claim.StatusReleased},
		"at most once": {true, claim.StatusUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p, previous := b.twoStores()
				p.AtMostOnce = tt.atMostOnce
				b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
					b.store.Put(runID, claim.Record{Status: claim.StatusReleased, AttemptID: "other", Attempt: 2, Rev: 9})

					return nil
				}), claim.OutcomeLost)
				b.wantPrevious(previous, tt.status, 1)
			})
		})
	}
}

func TestADuplicateIsAnsweredOnceThePreviousNameSaysSo(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		b.want(b.claimer.Do(b.Context(), proposal(), nothing), claim.OutcomeExecuted)
		previous.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				return nil
			}

			return errWire
		})
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnrecorded)
		previous.Before(nil)
		time.Sleep(lease)
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeDuplicate)
		b.wantPrevious(previous, claim.StatusCompleted, 2)
	})
}

func TestWorkDoneWhileAnotherCompletedThePreviousNameIsExecuted(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		res := b.claimer.Do(b.Context(), p, func(context.Context) error {
			previous.Put(previousID, claim.Record{Status: claim.StatusCompleted, AttemptID: "other", Attempt: 2, Rev: 9})

			return nil
		})
		b.want(res, claim.OutcomeExecuted)
		b.wantStatus(claim.StatusCompleted)
	})
}

// TestAFailureUnderThePreviousNameIsNotAnsweredBeforeTheOwnNameIsRead: it may have been completed there.
func TestAFailureUnderThePreviousNameIsNotAnsweredBeforeTheOwnNameIsRead(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		claim.New(previous).Do(b.Context(), old(), func(context.Context) error { return claim.Permanent(errWork) })
		b.want(b.claimer.Do(b.Context(), proposal(), nothing), claim.OutcomeExecuted)

		ctx, hangUp := context.WithCancel(b.Context())
		previous.Before(func(context.Context, memclaim.Verb, string) error {
			hangUp() // which does not count either

			return nil
		})
		b.store.Before(times(1, memclaim.Get, errWire))
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		b.want(b.claimer.Do(ctx, p, b.mustNotRun), claim.OutcomeUnavailable)
	})
}

func TestAPreviousClaimerThatIsShutDownIsNotAsked(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		if err := p.Previous.Claimer.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}

		asked := func(context.Context, memclaim.Verb, string) error {
			b.Error("a store is asked")

			return nil
		}
		previous.Before(asked)
		b.store.Before(asked)

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		if !errors.Is(res.Err, claim.ErrShutdown) {
			b.Errorf("error %v", res.Err)
		}
	})
}

func TestShutdownDuringTheClaimOfThePreviousNameLeavesTheOwnOneAlone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		previous.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				time.Sleep(time.Second)
			}

			return nil
		})

		down := make(chan error, 1)

		time.AfterFunc(500*time.Millisecond, func() { down <- b.claimer.Shutdown(b.Context()) })

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)
		b.wantPrevious(previous, claim.StatusReleased, 0)

		if r := b.record(); r.Version != "" || !errors.Is(res.Err, claim.ErrShutdown) {
			b.Errorf("record %+v, error %v", r, res.Err)
		}

		if err := <-down; err != nil {
			b.Error(err)
		}
	})
}

func TestShutdownStopsTheRenewalsOfBothNames(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p, previous := b.twoStores()
		p.Renew = true

		down := make(chan error, 1)
		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error { // heeds nothing
			time.Sleep(30 * time.Second)

			go func() { down <- b.claimer.Shutdown(b.Context()) }()

			time.Sleep(25 * time.Second)

			for name, store := range map[string]*memclaim.Store{runID: b.store, previousID: previous} {
				if snap, err := store.Get(b.Context(), name); err != nil || snap.Rev != 2 {
					b.Errorf("%.4s has revision %d (%v), want that of the renewal before the shutdown", name, snap.Rev, err)
				}
			}

			return nil
		}), claim.OutcomeExecuted)

		if err := <-down; err != nil {
			b.Error(err)
		}
	})
}
