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

func TestARenewalThatIsLostIsSentAgain(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.store.Before(times(1, memclaim.Swap, errWire))
		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			time.Sleep(lease/3 + time.Second)

			if r := b.record(); r.Rev != 2 || r.Now.Sub(r.Written) > time.Second {
				b.Errorf("revision %d, written %v ago: the renewal is not there", r.Rev, r.Now.Sub(r.Written))
			}

			return nil
		}), claim.OutcomeExecuted)
	})
}

// TestARenewalIsGivenUpAtTheEnd: what is written past it would keep the run from the next attempt.
func TestARenewalIsGivenUpAtTheEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		lease, runtime time.Duration
		through        int // renewals that get through before the store hangs
		end            time.Duration
	}{
		"of the lease":                  {12 * time.Second, 0, 0, 10800 * time.Millisecond}, // sent at 4, 7.2 and 10.4 s
		"of the attempt":                {lease, 21 * time.Second, 0, 21 * time.Second},
		"of the attempt, after another": {lease, 41 * time.Second, 1, 41 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Renew, p.Lease, p.Runtime = true, tt.lease, tt.runtime

				var (
					latest time.Duration // when a renewal is given up, since the claim
					ended  atomic.Bool
				)

				began := time.Now()
				through := tt.through
				b.store.Before(func(ctx context.Context, v memclaim.Verb, _ string) error {
					if v != memclaim.Swap || ended.Load() {
						return nil
					}

					if through--; through >= 0 {
						return nil
					}

					<-ctx.Done()

					latest = max(latest, time.Since(began))

					return ctx.Err()
				})
				b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
					<-ctx.Done()
					ended.Store(true)

					return nil
				})

				if latest != tt.end {
					b.Errorf("given up %v after the claim, want %v", latest, tt.end)
				}
			})
		})
	}
}

// unseenRenewal has the store apply the first renewal, lose the reply, and answer no read until the renewal is given up.
func (b *bubble) unseenRenewal() {
	began := time.Now()

	b.store.After(times(1, memclaim.Swap, errWire))
	b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
		if v == memclaim.Get && time.Since(began) < lease/3+3*time.Second {
			return errWire
		}

		return nil
	})
}

// TestTheEndIsRecordedOverARenewalThatNobodySaw: it is written over what the renewal left.
func TestTheEndIsRecordedOverARenewalThatNobodySaw(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.unseenRenewal()
		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			time.Sleep(lease/3 + 4*time.Second)

			return nil
		}), claim.OutcomeExecuted)

		if r := b.wantStatus(claim.StatusCompleted); r.Rev != 3 {
			b.Errorf("revision %d, want that after the claim and the renewal", r.Rev)
		}
	})
}

// TestARenewedRecordSaysSoInItsTimes: the sample goes by lease_expires, and a TTL policy by expire_at.
func TestARenewedRecordSaysSoInItsTimes(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.claimer.Do(b.Context(), p, func(context.Context) error {
			time.Sleep(lease/3 + time.Second)

			r := b.record()
			if !r.LeaseExpires.Equal(r.Written.Add(lease)) || !r.ExpireAt.Equal(r.LeaseExpires.Add(p.Retention)) || r.Rev != 2 {
				b.Errorf("renewed: %+v, written %v", r.Record, r.Written)
			}

			return nil
		})
	})
}

func TestASlowRenewalDoesNotPutOffTheNext(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap {
				time.Sleep(time.Second)
			}

			return nil
		})

		began := time.Now()
		b.claimer.Do(b.Context(), p, func(context.Context) error {
			time.Sleep(2*lease/3 + 2*time.Second)

			if r := b.record(); r.Rev != 3 || r.Written.Sub(began) != 2*lease/3 {
				b.Errorf("revision %d, written after %v, want the second renewal after %v", r.Rev, r.Written.Sub(began), 2*lease/3)
			}

			return nil
		})
	})
}

// TestRenewalsStopWhereTheAttemptDoes, whether or not its work has returned: the lease of one that does not must lapse.
func TestRenewalsStopWhereTheAttemptDoes(t *testing.T) {
	for name, runtime := range map[string]time.Duration{"at its time": 30 * time.Second, "at shutdown": 0} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Renew, p.Runtime = true, runtime

				down := make(chan error, 1)
				b.claimer.Do(b.Context(), p, func(context.Context) error { // heeds nothing
					time.Sleep(30 * time.Second)

					go func() { down <- b.claimer.Shutdown(b.Context()) }()

					time.Sleep(time.Minute)

					return nil
				})

				if n := b.events.count(claim.EventRenewed); n != 1 {
					b.Errorf("%d renewals, want the one after %v", n, lease/3)
				}

				if err := <-down; err != nil {
					b.Error(err)
				}
			})
		})
	}
}

func TestNothingLooksAtTheClockAfterTheEnd(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var looks atomic.Int64

		c := b.another(claim.WithClock(func() time.Time {
			looks.Add(1)

			return time.Now()
		}))
		p := proposal()
		p.Renew = true

		b.want(c.Do(b.Context(), p, func(ctx context.Context) error {
			ctx.Done()                                    // is waited for from here on
			time.Sleep(30*time.Second + time.Millisecond) // not to end with a look at the clock

			return nil
		}), claim.OutcomeExecuted)
		looks.Store(0)
		time.Sleep(time.Hour)

		if n := looks.Load(); n != 0 {
			b.Errorf("%d times in an hour", n)
		}
	})
}

func TestARenewalCountsFromBeforeItWasSent(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		swaps := 0
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v != memclaim.Swap {
				return nil
			}

			if swaps++; swaps > 1 {
				return errors.New("unreachable")
			}

			time.Sleep(time.Second)

			return nil
		})
		b.store.Before(func(context.Context, memclaim.Verb, string) error {
			if swaps > 0 {
				return errors.New("unreachable")
			}

			return nil
		})

		cause, after, _ := b.endOf(b.claimer, p)
		if want := lease/3 + lease - 5*time.Second; !errors.Is(cause, claim.ErrLeaseEnded) || after != want {
			b.Errorf("ended after %v by %v, want %v", after, cause, want)
		}
	})
}

func TestARenewalFoundAppliedLaterCountsFromItsOwnSending(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		began := time.Now()
		b.store.After(times(1, memclaim.Swap, errWire))
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			// Applied at 20 s, not to be read back by its deadline; found at 28 s, and nothing gets through after that.
			switch at := time.Since(began); {
			case v == memclaim.Get && at < lease/3+3*time.Second, at > lease/2:
				return errWire
			default:
				return nil
			}
		})

		cause, after, _ := b.endOf(b.claimer, p)
		if want := lease/3 + lease - 5*time.Second; !errors.Is(cause, claim.ErrLeaseEnded) || after != want {
			b.Errorf("ended after %v by %v, want %v: then its lease is over", after, cause, want)
		}

		b.store.Before(nil)

		if r := b.record(); r.Rev != 2 || r.Written.Sub(began) != lease/3 {
			b.Errorf("revision %d, written after %v: it is not the first renewal that counts", r.Rev, r.Written.Sub(began))
		}
	})
}

func TestAClaimSentTwiceCountsFromTheFirst(t *testing.T) {
	inBubble(t, func(b *bubble) {
		first := true
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert && first {
				first = false

				time.Sleep(time.Second)

				return errWire
			}

			return nil
		})

		if _, after, _ := b.endOf(b.claimer, proposal()); after != lease-5*time.Second {
			b.Errorf("ended after %v", after)
		}
	})
}

func TestTheWorksContextEndsWithTheWork(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var kept context.Context

		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Swap && kept.Err() == nil {
				b.Error("what the work left behind still runs while its end is recorded")
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			kept = ctx //nolint:fatcontext // to look at after the end

			return nil
		}), claim.OutcomeExecuted)

		if cause := context.Cause(kept); !errors.Is(cause, claim.ErrReturned) {
			b.Errorf("it ended by %v", cause)
		}
	})
}

func TestAStoresOffsetIsKnownFromTheStart(t *testing.T) {
	inBubble(t, func(b *bubble) {
		c := claim.New(offset{b.store, true})
		if c.Offset() != time.Minute {
			b.Errorf("offset %v, want 1m", c.Offset())
		}

		if _, err := c.Now(b.Context(), runID); err != nil || c.Offset() != 0 {
			b.Errorf("after the first answer: offset %v, error %v", c.Offset(), err)
		}

		if c := claim.New(offset{b.store, false}); c.Offset() != 0 {
			b.Errorf("offset %v of a store that did not learn it", c.Offset())
		}
	})
}

func TestAnAnswerToAClaimSentAgainTellsTheStoresClock(t *testing.T) {
	inBubble(t, func(b *bubble) {
		first := true
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert && first {
				first = false

				time.Sleep(time.Second)

				return errWire
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
			if b.claimer.Offset() != 0 {
				b.Errorf("offset %v, of a store with the same clock", b.claimer.Offset())
			}

			return nil
		}), claim.OutcomeExecuted)
	})
}

func TestAnAnswerThatWasHeldUpSaysNothingOfTheClocks(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.After(func(context.Context, memclaim.Verb, string) error {
			time.Sleep(10 * time.Minute) // a process that was frozen before it read the answer

			return nil
		})

		if _, err := b.claimer.Now(b.Context(), runID); err != nil || b.claimer.Offset() != 0 {
			b.Errorf("offset %v, error %v", b.claimer.Offset(), err)
		}
	})
}

// offset is a store that has compared the clocks when it was opened.
type offset struct {
	claim.Store

	known bool
}

func (o offset) Offset() (time.Duration, bool) { return time.Minute, o.known }

func TestNowTellsWhyItIsNotKnown(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(times(1, memclaim.Get, errWire))

		if _, err := b.claimer.Now(b.Context(), runID); !errors.Is(err, errWire) ||
			err.Error() != "read the store's clock: get "+runID+": connection reset" {
			b.Errorf("error %v", err)
		}
	})
}

func TestALostClaimSaysWhatIsThere(t *testing.T) {
	t.Parallel()

	found := claim.Record{Status: claim.StatusInProgress, AttemptID: "b", Rev: 2}
	for want, err := range map[string]error{
		"claim lost: attempt a of run x: the record is gone": &claim.LostError{ID: "x", AttemptID: "a"},
		"claim lost: attempt a of run x: the record is in_progress by attempt b": &claim.LostError{
			ID: "x", AttemptID: "a", Found: claim.Snapshot{Record: found, Version: found.Version()},
		},
	} {
		if err.Error() != want || !errors.Is(err, claim.ErrLost) {
			t.Errorf("error %q, want %q", err, want)
		}
	}

	if claim.Permanent(nil) != nil || claim.NothingDone(nil) != nil || claim.RolledBack(nil) != nil {
		t.Error("a mark makes an error of none")
	}
}
