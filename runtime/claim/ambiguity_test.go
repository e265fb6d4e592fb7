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
	for name, late := range map[string]time.Duration{
		"there at once": 0, "there later": 20 * time.Second, "there when its lease is almost over": 50 * time.Second,
	} {
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

				if took := time.Since(begin); took > 2*time.Second || !errors.Is(res.Err, claim.ErrAmbiguous) || !errors.Is(res.Err, errWire) {
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

// TestAMarkThatCannotBeConfirmedIsNotGivenBack: it stands for an attempt whose outcome is open, which giving back would forget.
func TestAMarkThatCannotBeConfirmedIsNotGivenBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.AtMostOnce = true
		b.die(p)
		time.Sleep(lease)

		down := unreachable(10 * time.Second)
		b.store.Before(func(ctx context.Context, v memclaim.Verb, id string) error {
			if v == memclaim.Insert {
				return nil
			}

			return down(ctx, v, id)
		})
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(20 * time.Second)
		b.wantStatus(claim.StatusInProgress)
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnknown)
	})
}

// TestAHolderThatRenewsBeforeItsMarkIsAlive: the mark carries its attempt id, and the next revision.
func TestAHolderThatRenewsBeforeItsMarkIsAlive(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.AtMostOnce = true
		b.die(p)
		time.Sleep(lease)

		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap {
				r := b.record().Record
				r.Rev++
				b.store.Put(runID, r)
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeInProgress)
		b.wantStatus(claim.StatusInProgress)
	})
}

// TestAClaimThatMayStillComeIsNotAnsweredForYet: what comes after the answer nobody would withdraw.
func TestAClaimThatMayStillComeIsNotAnsweredForYet(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(times(1, memclaim.Insert, errWire))

		p := proposal()
		p.Admit = func(time.Time) bool { return false }
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)
		b.wantStatus(claim.StatusReleased) // sent again, seen and withdrawn: no other insert can win any more
	})
}

func TestACallerThatHangsUpDuringTheClaimIsNotHeard(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ctx, hangUp := context.WithCancel(b.Context())
		b.store.Before(func(context.Context, memclaim.Verb, string) error {
			hangUp()

			return nil
		})
		b.want(b.claimer.Do(ctx, proposal(), nothing), claim.OutcomeExecuted)
	})
}

// TestAReadBackThatTookAllTheTimeRunsNothing, also where no observer makes the clock be read once more.
func TestAReadBackThatTookAllTheTimeRunsNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			time.Sleep(time.Second)

			if v == memclaim.Insert {
				return errWire
			}

			return nil
		})

		p := proposal()
		p.Runtime = 1500 * time.Millisecond
		res := claim.New(b.store).Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 || !errors.Is(res.Err, claim.ErrTimeout) {
			b.Errorf("record %+v, error %v", r, res.Err)
		}
	})
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

		asked := 0
		p := proposal()
		p.Admit = func(time.Time) bool { asked++; return true }

		res := b.claimer.Do(b.Context(), p, nothing)
		b.want(res, claim.OutcomeExecuted)

		if res.Attempt != 4 || asked != 1 {
			b.Errorf("attempt %d, want 4; asked %d times whether it is admitted, want once", res.Attempt, asked)
		}
	})
}

func TestThreeLostSwapsAreInProgress(t *testing.T) {
	for name, replies := range map[string]int{"with all replies": 0, "the first without its reply": 1} {
		t.Run(name, func(t *testing.T) {
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
				b.store.After(times(replies, memclaim.Swap, errWire))

				res := b.claimer.Do(b.Context(), proposal(), b.mustNotRun)
				b.want(res, claim.OutcomeInProgress)

				if rivals != 3 || res.RetryAfter <= 0 {
					b.Errorf("%d swaps, retry after %v", rivals, res.RetryAfter)
				}
			})
		})
	}
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

// TestAnOperatorsCompletionOfALostAttemptCounts: it was given back by hand, found lost, and then completed by hand after all.
func TestAnOperatorsCompletionOfALostAttemptCounts(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		by := func(status claim.Status) {
			r := b.record().Record
			r.Status, r.Rev = status, r.Rev+1
			b.store.Put(runID, r)
		}
		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			by(claim.StatusReleased)
			<-ctx.Done()
			by(claim.StatusCompleted)

			return nil
		})
		b.want(res, claim.OutcomeExecuted)

		if res.Record.Status != claim.StatusCompleted {
			b.Errorf("told of the record %+v", res.Record)
		}
	})
}

func TestAWithdrawalThatCannotBeConfirmedIsUnavailable(t *testing.T) {
	for name, gone := range map[string]bool{"there afterwards": false, "gone afterwards": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Admit = func(time.Time) bool {
					b.store.Before(unreachable(10 * time.Second))

					return false
				}
				b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)

				if gone {
					b.store.Delete(runID)
				}

				time.Sleep(20 * time.Second)

				if r := b.record(); !gone && (r.Status != claim.StatusReleased || r.Counted != 0) {
					b.Errorf("withdrawn later: %+v", r)
				}

				b.store.Before(func(context.Context, memclaim.Verb, string) error {
					b.Error("nothing is left of the claim, and the store is asked for it")

					return nil
				})
				time.Sleep(lease)
			})
		})
	}
}

func TestAWithdrawalOfWhatIsGoneIsDone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Admit = func(time.Time) bool {
			b.store.Delete(runID)

			return false
		}
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)
	})
}

func TestAWithdrawalHasItsOwnTime(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				time.Sleep(1500 * time.Millisecond) // of the two seconds that there are for a claim
			}

			return nil
		})
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap {
				time.Sleep(time.Second)
			}

			return nil
		})

		p := proposal()
		p.Admit = func(time.Time) bool { return false }
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)
		b.wantStatus(claim.StatusReleased)
	})
}

// TestWhyAClaimWasWithdrawnIsToldWithWhyItCouldNotBe: the reply says what the caller can mend.
func TestWhyAClaimWasWithdrawnIsToldWithWhyItCouldNotBe(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Arrived, p.Runtime = time.Now(), 10*time.Second

		time.Sleep(10 * time.Second)

		down := unreachable(5 * time.Second)
		b.store.Before(func(ctx context.Context, v memclaim.Verb, id string) error {
			if v == memclaim.Insert {
				return nil
			}

			return down(ctx, v, id)
		})

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		for _, want := range []error{claim.ErrTimeout, claim.ErrAmbiguous, errWire} {
			if !errors.Is(res.Err, want) {
				b.Errorf("error %v does not say %v", res.Err, want)
			}
		}

		time.Sleep(10 * time.Second)
		b.wantStatus(claim.StatusReleased)
	})
}
