package claim_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// TestAnOutageIsNotAskedForEachClaimThatItLeftOpen: however many deliveries met it, the store is asked once a pause while it is away,
// and all claims are given back when it is there again.
func TestAnOutageIsNotAskedForEachClaimThatItLeftOpen(t *testing.T) {
	inBubble(t, func(b *bubble) {
		const deliveries = 50

		var (
			away atomic.Bool
			gets atomic.Int64
		)

		b.store.After(func(_ context.Context, verb memclaim.Verb, _ string) error {
			if !away.Load() {
				return nil
			}

			if verb == memclaim.Get {
				gets.Add(1)
			}

			return errWire
		})
		away.Store(true)

		proposals := make([]claim.Proposal, deliveries)
		for i := range proposals {
			proposals[i] = proposal()
			proposals[i].ID, proposals[i].Lease = strconv.Itoa(i), time.Hour

			go b.claimer.Do(b.Context(), proposals[i], b.mustNotRun)
		}

		time.Sleep(10 * time.Second) // all are answered, and the pauses have grown
		synctest.Wait()
		gets.Store(0)
		time.Sleep(time.Minute)

		if n := gets.Load(); n == 0 || n > 13 {
			b.Errorf("the store was asked %d times in a minute, want once in five seconds", n)
		}

		away.Store(false)
		time.Sleep(6 * time.Second)

		for _, p := range proposals {
			if found, err := b.store.Get(b.Context(), p.ID); err != nil || found.Status != claim.StatusReleased || found.Counted != 0 {
				b.Fatalf("run %s is %s (%v), want released", p.ID, found.Status, err)
			}
		}

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

// TestOneClaimThatCannotBeReadKeepsNoneFromBeingGivenBack: a record may be beyond reading for ever.
func TestOneClaimThatCannotBeReadKeepsNoneFromBeingGivenBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var away atomic.Bool

		b.store.After(func(_ context.Context, _ memclaim.Verb, id string) error {
			if away.Load() || id == "unreadable" {
				return errWire
			}

			return nil
		})
		away.Store(true)

		ids := []string{"unreadable", "a", "b", "c"}
		for _, id := range ids {
			p := proposal()
			p.ID = id
			b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		}

		away.Store(false)
		time.Sleep(20 * time.Second)
		b.store.After(nil)

		for _, id := range ids[1:] {
			if found, err := b.store.Get(b.Context(), id); err != nil || found.Status != claim.StatusReleased {
				b.Errorf("run %s is %s (%v), want released", id, found.Status, err)
			}
		}

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

// TestNewClaimsDoNotPutOffTheOldOnes: as long as an outage lasts they come faster than the goroutine looks.
func TestNewClaimsDoNotPutOffTheOldOnes(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var readable atomic.Bool

		b.store.After(func(_ context.Context, _ memclaim.Verb, id string) error {
			if id == "old" && readable.Load() {
				return nil
			}

			return errWire
		})

		do := func(id string) {
			p := proposal()
			p.ID = id
			b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		}

		do("old")
		readable.Store(true)

		for i := range 200 { // ten seconds of them
			go do(strconv.Itoa(i))
			time.Sleep(50 * time.Millisecond)
		}

		if found, err := b.store.Get(b.Context(), "old"); err != nil || found.Status != claim.StatusReleased {
			b.Errorf("run old is %s (%v), want released", found.Status, err)
		}

		time.Sleep(5 * time.Second) // the last are answered
		b.store.After(nil)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

// TestANewClaimIsLookedAtSoon, however long the outage has lasted that left the old ones open.
func TestANewClaimIsLookedAtSoon(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var away atomic.Bool

		away.Store(true)
		b.store.After(func(_ context.Context, _ memclaim.Verb, id string) error {
			if away.Load() || id == "old" {
				return errWire
			}

			return nil
		})

		p := proposal()
		p.ID, p.Lease = "old", time.Hour
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(time.Minute) // it is looked at every five seconds by now

		p.ID = "new"
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		away.Store(false)
		time.Sleep(400 * time.Millisecond) // the old one comes first, and cannot be read; the new one after it

		if found, err := b.store.Get(b.Context(), "new"); err != nil || found.Status != claim.StatusReleased {
			b.Errorf("run new is %s (%v), want released", found.Status, err)
		}

		b.store.After(nil)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

// TestAnothersClaimIsNotGivenBack: the run that a claim was left open for may have been claimed by somebody else since.
func TestAnothersClaimIsNotGivenBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(unreachable(5 * time.Second))
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(4 * time.Second)

		b.want(b.another().Do(b.Context(), proposal(), func(ctx context.Context) error {
			time.Sleep(30 * time.Second)
			b.wantStatus(claim.StatusInProgress)

			return claim.Check(ctx)
		}), claim.OutcomeExecuted)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

// TestAClaimIsGivenBackOnce: a withdrawal that was applied unseen is not made again, which would forget an attempt that counts.
func TestAClaimIsGivenBackOnce(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.want(b.claimer.Do(b.Context(), proposal(), fails), claim.OutcomeReleased)

		p := proposal()
		p.Arrived, p.Runtime = time.Now(), 10*time.Second

		time.Sleep(10 * time.Second) // it comes too late to run anything

		swaps, down := 0, unreachable(10*time.Second)
		b.store.After(func(ctx context.Context, v memclaim.Verb, id string) error {
			if v == memclaim.Swap {
				swaps++
			}

			if swaps > 1 { // the claim's reply comes through, the withdrawal's does not
				return down(ctx, v, id)
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(20 * time.Second)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 1 || r.Rev != 4 {
			b.Errorf("%d attempts count after revision %d, want the one that failed, after the withdrawal", r.Counted, r.Rev)
		}

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

func TestAClaimThatCannotBeGivenBackYetIsGivenBackLater(t *testing.T) {
	inBubble(t, func(b *bubble) {
		reads, writes := unreachable(3*time.Second), unreachable(15*time.Second)
		b.store.Before(func(ctx context.Context, v memclaim.Verb, id string) error {
			switch v {
			case memclaim.Get:
				return reads(ctx, v, id)
			case memclaim.Swap:
				return writes(ctx, v, id)
			default:
				return nil
			}
		})
		b.store.After(times(1, memclaim.Insert, errWire))
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(30 * time.Second)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 {
			b.Errorf("%d attempts count", r.Counted)
		}
	})
}

// slowWatcher is an observer that takes its time over each claim.
type slowWatcher time.Duration

func (s slowWatcher) Observe(_ context.Context, e claim.Event) {
	if e.Kind == claim.EventClaimed {
		time.Sleep(time.Duration(s))
	}
}

func TestAnObserverThatTookAllTheTimeLetsNothingRun(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.want(b.another(claim.WithObserver(slowWatcher(lease))).Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)
	})
}

// panicky is an observer with a defect.
type panicky struct{}

func (panicky) Observe(context.Context, claim.Event) { panic("observer's defect") }

func TestAPanicOfTheObserverChangesNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ran := 0
		log := &lines{}
		c := b.another(claim.WithObserver(panicky{}), claim.WithLogger(log.logger()))

		b.want(c.Do(b.Context(), proposal(), func(context.Context) error { ran++; return nil }), claim.OutcomeExecuted)
		b.want(c.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeDuplicate)
		b.wantStatus(claim.StatusCompleted)

		if ran != 1 {
			b.Errorf("the work ran %d times", ran)
		}

		log.want(b, `level=ERROR msg="observer panicked" event=executed run=projects/p/locations/l/jobs/j/runs/t panic="observer's defect"`)
	})
}
