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

// TestAStoreThatIsAwayIsAskedLessAndLessOften, and often enough to be found when it comes back.
func TestAStoreThatIsAwayIsAskedLessAndLessOften(t *testing.T) {
	for name, fails := range map[string]func(memclaim.Verb) bool{
		"nothing gets through": func(memclaim.Verb) bool { return true },
		"but for reads":        func(v memclaim.Verb) bool { return v != memclaim.Get },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				var (
					asked   int
					longest time.Duration
				)

				res := b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
					latest := time.Now()
					b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
						if !fails(v) {
							return nil
						}

						asked++
						longest = max(longest, time.Since(latest))
						latest = time.Now()

						return errWire
					})

					return nil
				})
				b.want(res, claim.OutcomeUnrecorded)

				if asked < 20 || asked > 30 || longest != 500*time.Millisecond {
					b.Errorf("asked %d times in ten seconds, the longest pause was %v, want one of half a second", asked, longest)
				}
			})
		})
	}
}

func TestAClaimThatGetsThroughNowhereIsSentAHundredTimesASecondAtMost(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inserts := 0
		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			if v != memclaim.Insert {
				return nil
			}

			inserts++

			time.Sleep(time.Millisecond)

			return errWire
		})

		began := time.Now()
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeUnavailable)

		if took := time.Since(began); inserts > 200 || took != 2*time.Second {
			b.Errorf("sent %d times in %v", inserts, took)
		}

		if err := b.claimer.Shutdown(b.Context()); err != nil {
			b.Error(err)
		}
	})
}

func TestAStoreThatHangsIsGivenUpInTime(t *testing.T) {
	inBubble(t, func(b *bubble) {
		began := time.Now()
		res := b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
			b.store.Before(func(ctx context.Context, v memclaim.Verb, _ string) error {
				if v == memclaim.Swap {
					<-ctx.Done()
				}

				return ctx.Err()
			})

			return nil
		})
		b.want(res, claim.OutcomeUnrecorded)

		if took := time.Since(began); took != 10*time.Second {
			b.Errorf("given up after %v", took)
		}
	})
}

func TestABusyStoreIsGivenTimeBeforeItIsAskedAgain(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var refused time.Time

		b.store.Before(func(_ context.Context, v memclaim.Verb, _ string) error {
			switch {
			case v == memclaim.Insert && refused.IsZero():
				refused = time.Now()

				return fmt.Errorf("deadlock: %w", claim.ErrConflict)
			case v == memclaim.Get && time.Since(refused) < 10*time.Millisecond:
				b.Errorf("asked again after %v", time.Since(refused))
			}

			return nil
		})
		b.want(b.claimer.Do(b.Context(), proposal(), nothing), claim.OutcomeExecuted)
	})
}

// TestACallThatHangsLeavesTimeForTheNext: the end of an attempt has several store timeouts, none of its calls more than one.
func TestACallThatHangsLeavesTimeForTheNext(t *testing.T) {
	for _, hangs := range []memclaim.Verb{memclaim.Swap, memclaim.Get} {
		t.Run(string(hangs), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				began := time.Now()
				res := b.claimer.Do(b.Context(), proposal(), func(context.Context) error {
					first := map[memclaim.Verb]bool{memclaim.Swap: true, memclaim.Get: true}
					b.store.Before(func(ctx context.Context, v memclaim.Verb, _ string) error {
						if !first[v] {
							return nil
						}

						first[v] = false

						if v == hangs {
							<-ctx.Done()
						}

						return errors.Join(errWire, ctx.Err())
					})

					return nil
				})
				b.want(res, claim.OutcomeExecuted)

				if took := time.Since(began); took > 3*time.Second {
					b.Errorf("recorded after %v", took)
				}
			})
		})
	}
}
