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

func TestWhoAsksNoticesASuspendedMachineAtOnce(t *testing.T) {
	ended := func(ctx context.Context) error { return ctx.Err() }

	for name, tt := range map[string]struct {
		ask       func(context.Context) error
		waitedFor bool
		want      error
	}{
		"by Check, nobody waits":          {claim.Check, false, claim.ErrLeaseEnded},
		"by Check, its end is waited for": {claim.Check, true, claim.ErrLeaseEnded},
		"by Err, nobody waits":            {ended, false, context.Canceled},
		"by Err, its end is waited for":   {ended, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				var slept atomic.Int64

				c := b.another(claim.WithClock(func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }))
				c.Do(b.Context(), proposal(), func(ctx context.Context) error {
					if tt.waitedFor {
						ctx.Done()
					}

					slept.Store(int64(time.Hour))

					if err := tt.ask(ctx); !errors.Is(err, tt.want) || !errors.Is(context.Cause(ctx), claim.ErrLeaseEnded) || ctx.Err() == nil {
						b.Errorf("it says %v, its cause is %v", err, context.Cause(ctx))
					}

					return nil
				})
			})
		})
	}
}

func TestCheckOutsideAnAttempt(t *testing.T) {
	inBubble(t, func(b *bubble) {
		if err := claim.Check(b.Context()); err != nil {
			b.Errorf("no attempt: %v", err)
		}

		ended, end := context.WithCancelCause(b.Context())
		end(errWork)

		if err := claim.Check(ended); !errors.Is(err, errWork) {
			b.Errorf("no attempt, and its own end: %v", err)
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
		p.Renew, p.Lease = true, lease+300*time.Millisecond // it ends between two looks at the clock
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				return nil
			}

			return errors.New("unreachable")
		})

		cause, after, res := b.endOf(b.claimer, p)
		if !errors.Is(cause, claim.ErrLeaseEnded) || after != p.Lease-5*time.Second {
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
	other := claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Attempt: 2, Rev: 2, Lease: lease}
	done := claim.Record{Status: claim.StatusCompleted, AttemptID: "other", Attempt: 2, Rev: 3, Lease: lease}

	for name, tt := range map[string]struct {
		found, by  *claim.Record // what is there when it is found lost, and by the time that the work returns; nil: nothing
		outcome    claim.Outcome
		retryAfter time.Duration
	}{
		"taken":                      {&other, &other, claim.OutcomeLost, 50 * time.Second},
		"taken, its lease over soon": {&other, &claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Rev: 3, Lease: time.Second}, claim.OutcomeLost, 0},
		"taken, then gone":           {&other, nil, claim.OutcomeLost, 0},
		"taken, then completed":      {&other, &done, claim.OutcomeDuplicate, 0},
		"completed":                  {&done, &done, claim.OutcomeDuplicate, 0},
		"gone":                       {nil, nil, claim.OutcomeLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Renew = true

				put := func(r *claim.Record) {
					if r == nil {
						b.store.Delete(runID)
					} else {
						b.store.Put(runID, *r)
					}
				}
				time.AfterFunc(time.Second, func() { put(tt.found) })

				began := time.Now()
				res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
					cause := heeds(ctx)

					var lost *claim.LostError
					if after := time.Since(began); !errors.As(cause, &lost) || !errors.Is(cause, claim.ErrLost) || after != lease/3 {
						b.Errorf("ended after %v by %v", after, cause)
					}

					put(tt.by)
					b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
						if v != memclaim.Get {
							b.Errorf("%s by an attempt that has lost", v)
						}

						return nil
					})
					time.Sleep(10 * time.Second)

					return errWork
				})
				b.want(res, tt.outcome)

				if res.RetryAfter != tt.retryAfter || !errors.Is(res.Err, claim.ErrLost) || !errors.Is(res.Err, errWork) {
					b.Errorf("retry after %v, want %v; error %v", res.RetryAfter, tt.retryAfter, res.Err)
				}

				if tt.by != nil && res.Record.Rev != tt.by.Rev {
					b.Errorf("told of the record %+v", res.Record)
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
