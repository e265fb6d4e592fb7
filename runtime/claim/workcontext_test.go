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

// TestTheEndOfTheWorksContextShowsToWhoeverAsks: what is made when somebody waits must say what it would have said from the start.
func TestTheEndOfTheWorksContextShowsToWhoeverAsks(t *testing.T) {
	for name, tt := range map[string]struct {
		ask  func(ctx context.Context) error
		want error
	}{
		"waiting": {func(ctx context.Context) error {
			<-ctx.Done()

			return ctx.Err()
		}, context.DeadlineExceeded},
		"error": {func(ctx context.Context) error {
			time.Sleep(lease)

			return ctx.Err()
		}, context.DeadlineExceeded},
		"cause": {func(ctx context.Context) error {
			time.Sleep(lease)

			return context.Cause(ctx)
		}, claim.ErrLeaseEnded},
		"cause, having waited": {func(ctx context.Context) error {
			<-ctx.Done()

			return context.Cause(ctx)
		}, claim.ErrLeaseEnded},
		"check, having waited long": {func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(lease) // by now its time is over, too

			return claim.Check(ctx)
		}, claim.ErrLeaseEnded},
		"a context made of it": {func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			<-ctx.Done()

			return ctx.Err()
		}, context.DeadlineExceeded},
		"the cause of a context made of it": {func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()

			<-ctx.Done()

			return context.Cause(ctx)
		}, claim.ErrLeaseEnded},
		"a function called after it": {func(ctx context.Context) error {
			done := make(chan struct{})
			context.AfterFunc(ctx, func() { close(done) })
			<-done

			return context.Cause(ctx)
		}, claim.ErrLeaseEnded},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Runtime = lease + 10*time.Second // longer than the lease

				b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
					end, ok := ctx.Deadline()
					if err := ctx.Err(); err != nil || !ok || time.Until(end) > lease {
						b.Errorf("at the start: %v, deadline %v", err, end)
					}

					if err := tt.ask(ctx); !errors.Is(err, tt.want) {
						b.Errorf("at the end: %v, want %v", err, tt.want)
					}

					return nil
				})
			})
		})
	}
}

func TestALeaseThatIsRenewedForEverHasNoDeadline(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			if end, ok := ctx.Deadline(); ok {
				b.Errorf("deadline %v", end)
			}

			return nil
		})
	})
}

func TestAContextThatOutlivesItsWorkHasEnded(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var kept context.Context

		b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			kept = ctx //nolint:fatcontext // to look at after the end

			return nil
		})

		if err := kept.Err(); !errors.Is(err, context.Canceled) {
			b.Errorf("Err: %v", err)
		}

		if err := context.Cause(kept); !errors.Is(err, claim.ErrReturned) {
			b.Errorf("Cause: %v", err)
		}

		<-kept.Done()
	})
}

func TestTheWorksContextKeepsTheValuesOfTheDelivery(t *testing.T) {
	type key struct{}

	inBubble(t, func(b *bubble) {
		b.claimer.Do(context.WithValue(b.Context(), key{}, "value"), proposal(), func(ctx context.Context) error {
			for range 2 {
				if ctx.Value(key{}) != "value" {
					b.Error("the value is gone")
				}

				ctx.Done()
			}

			return nil
		})
	})
}

// TestAStoreThatWaitsIsGivenUpAtItsDeadline: a call may wait for its context, make contexts of it, or only look.
func TestAStoreThatWaitsIsGivenUpAtItsDeadline(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context) error{
		"waiting": func(ctx context.Context) error {
			<-ctx.Done()

			return ctx.Err()
		},
		"looking": func(ctx context.Context) error {
			for ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}

			return ctx.Err()
		},
		"a context made of it": func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			<-ctx.Done()

			return context.Cause(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				var calls atomic.Int64

				b.store.Before(func(ctx context.Context, _ memclaim.Verb, _ string) error {
					calls.Add(1)

					if end, ok := ctx.Deadline(); !ok || time.Until(end) > 2*time.Second {
						b.Errorf("deadline %v", end)
					}

					return wait(ctx)
				})

				began := time.Now()
				res := b.claimer.Do(b.Context(), proposal(), b.mustNotRun)
				b.want(res, claim.OutcomeUnavailable)

				if took := time.Since(began); took != 2*time.Second || !errors.Is(res.Err, context.DeadlineExceeded) {
					b.Errorf("given up after %v: %v", took, res.Err)
				}

				b.store.Before(nil)

				if err := b.claimer.Shutdown(b.Context()); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

func TestTheEndOfAContextThatNobodyLookedAtKeepsItsCause(t *testing.T) {
	inBubble(t, func(b *bubble) {
		var kept context.Context

		down := make(chan error, 1)
		b.want(b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			kept = ctx //nolint:fatcontext // to look at after the end

			go func() { down <- b.claimer.Shutdown(b.Context()) }()
			time.Sleep(time.Second)

			return nil
		}), claim.OutcomeExecuted)

		if err := <-down; err != nil {
			b.Error(err)
		}

		if cause := context.Cause(kept); !errors.Is(cause, claim.ErrShutdown) || !errors.Is(claim.Check(kept), claim.ErrShutdown) {
			b.Errorf("it ended by %v, Check says %v", cause, claim.Check(kept))
		}
	})
}

// TestTheFirstCauseCounts: also when nobody looked at the context before its end had come too.
func TestTheFirstCauseCounts(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Runtime = 10 * time.Second

		down := make(chan error, 1)

		res := b.claimer.Do(b.Context(), p, func(ctx context.Context) error {
			go func() { down <- b.claimer.Shutdown(b.Context()) }()
			time.Sleep(2 * p.Runtime)
			<-ctx.Done()

			return context.Cause(ctx)
		})
		b.want(res, claim.OutcomeReleased)

		if !errors.Is(res.Err, claim.ErrShutdown) || res.Record.Counted != 0 {
			b.Errorf("ended by %v, counted %d times, want by the shutdown and not counted", res.Err, res.Record.Counted)
		}

		if err := <-down; err != nil {
			b.Error(err)
		}
	})
}
