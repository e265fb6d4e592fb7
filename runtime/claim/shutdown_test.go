package claim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

func TestShutdownReleasesWhatHeedsIt(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.MaxAttempts = 1

		done := make(chan claim.Result, 1)

		go func() { done <- b.claimer.Do(b.Context(), p, heeds) }()

		synctest.Wait()

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}

		res := <-done
		b.want(res, claim.OutcomeReleased)

		if !errors.Is(res.Err, claim.ErrShutdown) {
			b.Errorf("error %v", res.Err)
		}

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 {
			b.Errorf("%d attempts count, want none", r.Counted)
		}

		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)
		b.want(b.another().Do(b.Context(), p, nothing), claim.OutcomeExecuted)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Errorf("a second shutdown: %v", err)
		}
	})
}

func TestShutdownLeavesWhatDoesNotReturn(t *testing.T) {
	inBubble(t, func(b *bubble) {
		done := make(chan claim.Result, 1)

		go func() {
			done <- b.claimer.Do(b.Context(), proposal(), func(context.Context) error { time.Sleep(30 * time.Second); return nil })
		}()

		synctest.Wait()

		ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
		defer cancel()

		err := b.claimer.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			b.Fatalf("shutdown: %v", err)
		}

		if want := "1 of the running attempts did not end in time, their leases will lapse: context deadline exceeded"; err.Error() != want {
			b.Errorf("error %q", err)
		}

		b.want(b.another().Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeInProgress)
		b.want(<-done, claim.OutcomeExecuted)
	})
}

func TestAClaimWonDuringShutdownIsWithdrawn(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.After(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v == memclaim.Insert {
				time.Sleep(time.Second)
			}

			return nil
		})

		done := make(chan claim.Result, 1)

		go func() { done <- b.claimer.Do(b.Context(), proposal(), b.mustNotRun) }()

		synctest.Wait()

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}

		b.want(<-done, claim.OutcomeUnavailable)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 {
			b.Errorf("withdrawn: %+v", r)
		}
	})
}

func TestShutdownDoesNotWaitForAClaimThatNeverReachedTheStore(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(unreachable(3 * time.Second))
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)
		time.Sleep(10 * time.Second)

		began := time.Now()

		if err := b.claimer.Shutdown(b.Context()); err != nil || time.Since(began) > 100*time.Millisecond {
			b.Errorf("shut down after %v: %v", time.Since(began), err)
		}
	})
}

func TestAShutdownThatIsGivenUpLeavesTheStoreAlone(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(unreachable(time.Hour))

		p := proposal()
		p.Lease = time.Hour
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeUnavailable)

		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()

		if err := b.claimer.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			b.Errorf("shutdown: %v", err)
		}

		synctest.Wait()
		b.store.Before(func(context.Context, memclaim.Verb, string) error {
			b.Error("the store is asked after the end")

			return nil
		})
		time.Sleep(time.Minute)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Errorf("nothing is left, and a second shutdown: %v", err)
		}
	})
}

// TestAClaimLeftOpenAfterTheEndIsLeftToItsLease, as those are that were open then.
func TestAClaimLeftOpenAfterTheEndIsLeftToItsLease(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.store.Before(func(ctx context.Context, _ memclaim.Verb, id string) error {
			if id != runID {
				<-ctx.Done()
			}

			return errWire
		})
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)

		slow := proposal()
		slow.ID = "slow"
		done := make(chan claim.Result, 1)

		go func() { done <- b.claimer.Do(b.Context(), slow, b.mustNotRun) }()

		time.Sleep(time.Second)

		ended, cancel := context.WithCancel(b.Context())
		cancel()

		if err := b.claimer.Shutdown(ended); !errors.Is(err, context.Canceled) {
			b.Errorf("shutdown: %v", err)
		}

		b.want(<-done, claim.OutcomeUnavailable)

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Errorf("a second shutdown: %v", err)
		}
	})
}

func TestAShutdownOfNothingEndsWell(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ended, cancel := context.WithCancel(b.Context())
		cancel()

		for range 100 { // which of two things that have happened is seen first is left to chance
			if err := b.another().Shutdown(ended); err != nil {
				b.Fatal(err)
			}
		}
	})
}
