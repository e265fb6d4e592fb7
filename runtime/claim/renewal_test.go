package claim_test

import (
	"context"
	"errors"
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
		c := claim.New(offset{b.store})
		if c.Offset() != time.Minute {
			b.Errorf("offset %v, want 1m", c.Offset())
		}

		if _, err := c.Now(b.Context(), runID); err != nil || c.Offset() != 0 {
			b.Errorf("after the first answer: offset %v, error %v", c.Offset(), err)
		}
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
type offset struct{ claim.Store }

func (offset) Offset() (time.Duration, bool) { return time.Minute, true }

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
