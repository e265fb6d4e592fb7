package scheduled_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

func unguarded(c *scheduled.Config) { c.RunWithoutScheduleTime = true }

func TestRunWithoutScheduleTimeIsUnguardedWhereAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unguarded)
	var calls counter
	f.store.Before(calls.hook)
	f.works(func(ctx context.Context) error {
		if r, ok := run.FromContext(ctx); !ok || r.Job != job || !r.Forced {
			t.Errorf("the context carries %+v, %v", r, ok)
		}
		return nil
	})
	for range 2 {
		if got := f.want(t, deliver(time.Time{}), 200, claim.OutcomeExecuted); got.mend != "" {
			t.Errorf("what went well is to be mended by %q", got.mend)
		}
	}
	runs := f.executions()
	if len(runs) != 2 || !runs[0].Forced || runs[0].ID != "" || runs[0].Attempt != 0 || runs[0].Job != job {
		t.Errorf("the work saw %+v", runs)
	}
	if n := calls.insert.Load() + calls.get.Load() + calls.swap.Load(); n != 0 {
		t.Errorf("the store was called %d times", n)
	}
	f.works(func(context.Context) error { return errWork })
	f.want(t, deliver(time.Time{}), 500, claim.OutcomeReleased)
	f.works(func(context.Context) error { panic("boom") })
	f.want(t, deliver(time.Time{}), 500, claim.OutcomeReleased)
	f.works(func(context.Context) error { panic(claim.Permanent(errWork)) })
	f.want(t, deliver(time.Time{}), 500, claim.OutcomeReleased)
	f.works(func(context.Context) error { return claim.Permanent(errWork) })
	if got := f.want(t, deliver(time.Time{}), 422, claim.OutcomeFailed); got.mend != "see the handler's log" {
		t.Errorf("a run without a record is to be mended by %q", got.mend)
	}
	f.works(func(context.Context) error { return claim.Unknown(errWork) })
	f.want(t, deliver(time.Time{}), 422, claim.OutcomeUnknown)
	f.works(func(context.Context) error { panic("boom") })
	f.want(t, deliver(due()), 500, claim.OutcomeReleased)
}

func TestNothingIsLeftOfUnguardedWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which ends badly while a goroutine of it waits for the handler's end
		newFixture(t, unguarded).want(t, deliver(time.Time{}), 200, claim.OutcomeExecuted)
	})
}

func TestShutdownTellsOfUnguardedWorkThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, unguarded)
		f.works(func(context.Context) error { time.Sleep(time.Minute); return nil })
		var one sync.WaitGroup
		one.Go(func() { f.want(t, deliver(time.Time{}), 200, claim.OutcomeExecuted) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		const want = "unguarded work did not return in time: context deadline exceeded"
		if err := f.handler.Shutdown(ctx); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
		one.Wait()
	})
}

func TestUnguardedWorkEndsAtItsTimeoutOrShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, unguarded)
		var cause error
		started := make(chan struct{}, 1)
		f.works(func(ctx context.Context) error {
			started <- struct{}{}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		})
		began := time.Now()
		ctx, hangUp := context.WithCancel(t.Context())
		hangUp()
		f.want(t, deliver(time.Time{}).WithContext(ctx), 500, claim.OutcomeReleased)
		if lived := time.Since(began); lived != 180*time.Second || !errors.Is(cause, claim.ErrTimeout) {
			t.Errorf("the work ended after %v with %v; want 3 minutes, %v", lived, cause, claim.ErrTimeout)
		}
		<-started
		var one sync.WaitGroup
		one.Go(func() { f.want(t, deliver(time.Time{}), 500, claim.OutcomeReleased) })
		<-started
		if err := f.handler.Shutdown(t.Context()); err != nil || !errors.Is(cause, claim.ErrShutdown) {
			t.Errorf("shut down with %v, the work with %v", err, cause)
		}
		one.Wait()
		f.want(t, deliver(time.Time{}), 500, "")
	})
}
