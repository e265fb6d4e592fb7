package claim_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// endOf runs work that heeds its context, and returns why and after how long it ended.
func (b *bubble) endOf(c *claim.Claimer, p claim.Proposal) (cause error, after time.Duration, res claim.Result) { //nolint:revive,staticcheck // cause is what is looked at, not an error of this
	b.Helper()

	begin := time.Now()
	res = c.Do(b.Context(), p, func(ctx context.Context) error {
		cause = heeds(ctx)
		after = time.Since(begin)

		return cause
	})

	return cause, after, res
}

func TestWorkEndsAMarginBeforeItsLease(t *testing.T) {
	inBubble(t, func(b *bubble) {
		cause, after, res := b.endOf(b.claimer, proposal())
		if !errors.Is(cause, claim.ErrLeaseEnded) || after != lease-5*time.Second {
			b.Errorf("ended after %v by %v", after, cause)
		}

		b.want(res, claim.OutcomeReleased)
	})
}

func TestTheLeaseCountsFromBeforeTheClaimWasSent(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				time.Sleep(time.Second)
			}

			return nil
		})

		if _, after, _ := b.endOf(b.claimer, proposal()); after != lease-5*time.Second {
			b.Errorf("ended after %v", after)
		}
	})
}

func TestWorkEndsWAfterArrival(t *testing.T) {
	for name, tt := range map[string]struct {
		deadline, runtime time.Duration
		renew             bool
		want              time.Duration
	}{
		"runtime":            {30 * time.Second, 20 * time.Second, false, 15 * time.Second},
		"deadline":           {30 * time.Second, 0, false, 25 * time.Second},
		"renewed":            {0, 300 * time.Second, true, 295 * time.Second},
		"longer than lease":  {0, 300 * time.Second, false, 55 * time.Second},
		"renewed, unlimited": {0, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Deadline, p.Runtime, p.Renew = tt.deadline, tt.runtime, tt.renew
				p.Arrived = time.Now()

				time.Sleep(5 * time.Second)

				if tt.want == 0 {
					b.want(b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
						time.Sleep(time.Hour)

						return claim.Check(ctx)
					}), claim.OutcomeExecuted)

					return
				}

				want := claim.ErrTimeout
				if name == "longer than lease" {
					want = claim.ErrLeaseEnded
				}

				cause, after, _ := b.endOf(b.claimer, p)
				if !errors.Is(cause, want) || after != tt.want {
					b.Errorf("ended after %v by %v, want %v by %v", after, cause, tt.want, want)
				}
			})
		})
	}
}

func TestADeliveryThatCameTooLongAgoRunsNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Arrived, p.Runtime = time.Now(), 10*time.Second

		time.Sleep(10 * time.Second)

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeUnavailable)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 || !errors.Is(res.Err, claim.ErrTimeout) {
			b.Errorf("record %+v, error %v", r, res.Err)
		}
	})
}

func TestASuspendedMachineIsNoticedWithinASecond(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var slept atomic.Int64 // what the monotonic clock did not count

		c := b.another(claim.WithClock(func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }))
		begin := time.Now()
		c.Do(b.Context(), proposal(), func(ctx context.Context) error {
			ctx.Done() // is waited for from here on

			time.Sleep(1500 * time.Millisecond)
			slept.Store(int64(time.Hour))

			cause := heeds(ctx)
			if after := time.Since(begin); !errors.Is(cause, claim.ErrLeaseEnded) || after != 2*time.Second {
				b.Errorf("ended after %v by %v", after, cause)
			}

			return cause
		})
	})
}

func TestCheckNoticesASuspendedMachineAtOnce(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var slept atomic.Int64

		c := b.another(claim.WithClock(func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }))
		c.Do(b.Context(), proposal(), func(ctx context.Context) error {
			slept.Store(int64(time.Hour))

			if err := claim.Check(ctx); !errors.Is(err, claim.ErrLeaseEnded) || ctx.Err() == nil {
				b.Errorf("check: %v, context: %v", err, ctx.Err())
			}

			return nil
		})
	})
}

func TestCheckOutsideAnAttempt(t *testing.T) {
	inBubble(t, func(b *bubble) {
		if err := claim.Check(b.Context()); err != nil {
			b.Errorf("no attempt: %v", err)
		}

		var kept context.Context

		b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			kept = ctx //nolint:fatcontext // to look at after the end

			return nil
		})

		if err := claim.Check(kept); !errors.Is(err, claim.ErrReturned) {
			b.Errorf("after the work returned: %v", err)
		}
	})
}

func TestACallerThatHangsUpDoesNotEndTheWork(t *testing.T) {
	inBubble(t, func(b *bubble) {
		type key struct{}

		ctx, hangUp := context.WithCancel(context.WithValue(b.Context(), key{}, "value"))
		res := b.claimer.Do(ctx, proposal(), func(ctx context.Context) error {
			hangUp()
			time.Sleep(time.Second)

			if ctx.Value(key{}) != "value" {
				b.Error("the work's context lost its values")
			}

			return ctx.Err()
		})
		b.want(res, claim.OutcomeExecuted)
	})
}

func TestALeaseIsRenewedEveryThird(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			for range 6 {
				time.Sleep(49 * time.Second) // not to end at a renewal

				if got := b.another().Do(ctx, p, b.mustNotRun); got.Outcome != claim.OutcomeInProgress {
					b.Errorf("another delivery got %s", got.Outcome)
				}
			}

			return claim.Check(ctx)
		})
		b.want(res, claim.OutcomeExecuted)

		if n := b.events.count(claim.EventRenewed); n != 14 {
			b.Errorf("%d renewals in 294 s, want 14", n)
		}

		if r := b.record(); r.Rev != 16 {
			b.Errorf("revision %d, want 16", r.Rev)
		}
	})
}

func TestRenewalsThatFailKeepTheOldEnd(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				return nil
			}

			return errors.New("unreachable")
		})

		cause, after, res := b.endOf(b.claimer, p)
		if !errors.Is(cause, claim.ErrLeaseEnded) || after != lease-5*time.Second {
			b.Errorf("ended after %v by %v", after, cause)
		}

		b.want(res, claim.OutcomeReleased)
	})
}

func TestAnAmbiguousRenewalIsReadBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		swaps := 0
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap {
				swaps++
				if swaps == 1 {
					return errors.New("reply lost")
				}
			}

			return nil
		})

		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			time.Sleep(70 * time.Second)

			return claim.Check(ctx)
		})
		b.want(res, claim.OutcomeExecuted)

		if swaps != 4 {
			b.Errorf("%d swaps, want three renewals and the end", swaps)
		}
	})
}

func TestALostClaimEndsTheWork(t *testing.T) {
	for name, tt := range map[string]struct {
		status  claim.Status
		gone    bool
		outcome claim.Outcome
	}{
		"taken":     {claim.StatusInProgress, false, claim.OutcomeLost},
		"completed": {claim.StatusCompleted, false, claim.OutcomeDuplicate},
		"gone":      {"", true, claim.OutcomeLost},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Renew = true

				time.AfterFunc(time.Second, func() {
					if tt.gone {
						b.store.Delete(runID)
					} else {
						b.store.Put(runID, claim.Record{Status: tt.status, AttemptID: "other", Attempt: 2, Rev: 2, Lease: lease})
					}
				})

				cause, after, res := b.endOf(b.claimer, p)
				b.want(res, tt.outcome)

				var lost *claim.LostError
				if !errors.As(cause, &lost) || !errors.Is(cause, claim.ErrLost) || after != lease/3 {
					b.Errorf("ended after %v by %v", after, cause)
				}

				if got := b.record(); got.AttemptID == res.AttemptID {
					b.Errorf("the loser wrote over the record: %+v", got)
				}
			})
		})
	}
}

func TestAHolderPastItsLeaseCannotComplete(t *testing.T) {
	inBubble(t, func(b *bubble) {
		res := b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
			time.Sleep(lease) // heeds nothing

			b.want(b.another().Do(b.Context(), proposal(), fails), claim.OutcomeReleased)

			return nil
		})
		b.want(res, claim.OutcomeLost)
		b.wantStatus(claim.StatusReleased)
	})
}
