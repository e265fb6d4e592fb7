package scheduled_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestWaitHoldsADeliveryUntilTheOutcomeIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		started := make(chan struct{})
		f.works(func(context.Context) error { close(started); time.Sleep(20 * time.Second); return nil })
		wait := policy(run.Policy{Wait: true})
		at := due()
		var first sync.WaitGroup
		first.Go(func() { f.want(t, deliver(at), 200, claim.OutcomeExecuted) })
		<-started
		began := time.Now()
		f.want(t, deliver(at, wait), 200, claim.OutcomeDuplicate)
		if held := time.Since(began); held < 15*time.Second || held > 23*time.Second {
			t.Errorf("the delivery was held for %v; want about 20 s", held)
		}
		first.Wait()
	})
}

func TestWaitAnswersInProgressBeforeItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		started := make(chan struct{})
		f.works(func(context.Context) error { close(started); time.Sleep(100 * time.Second); return nil })
		at := due()
		var first sync.WaitGroup
		first.Go(func() { f.want(t, deliver(at), 200, claim.OutcomeExecuted) })
		<-started
		began := time.Now()
		f.want(t, deliver(at, policy(run.Policy{Deadline: 30 * time.Second, Wait: true})), 409, claim.OutcomeInProgress)
		if held := time.Since(began); held != 27*time.Second {
			t.Errorf("the delivery was held for %v; want the deadline less its tenth", held)
		}
		first.Wait()
	})
}

func TestWaitTakesOverWhenTheLeaseEndsWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		at := due()
		name, id := nameOf(t, at, false)
		f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "dead", Attempt: 1, Counted: 1, Rev: 1, Lease: 20 * time.Second, Run: name})
		began := time.Now()
		f.works(func(ctx context.Context) error {
			if waited := time.Since(began); waited != 20*time.Second {
				t.Errorf("taken over after %v; want as soon as the lease is over", waited)
			}
			end, bounded := ctx.Deadline()
			if left := end.Sub(began); bounded && left > 30*time.Second {
				t.Errorf("the attempt may live for %v since its request came; want 30 s", left)
			}
			<-ctx.Done()
			if time.Since(began) > 30*time.Second || context.Cause(ctx) == nil {
				t.Errorf("the context ended after %v with %v", time.Since(began), context.Cause(ctx))
			}
			return nil
		})
		got := f.want(t, deliver(at, policy(run.Policy{Deadline: 30 * time.Second, Wait: true})), 200, claim.OutcomeExecuted)
		if got.attempt != 2 {
			t.Errorf("got attempt %d; want 2", got.attempt)
		}
	})
}

func TestForcedDeliveryThatWaitsStaysForced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		at := due().Add(60 * time.Second)
		started := make(chan struct{})
		f.works(func(context.Context) error { close(started); time.Sleep(50 * time.Second); return nil })
		var first sync.WaitGroup
		first.Go(func() { f.want(t, deliver(at), 200, claim.OutcomeExecuted) })
		<-started
		f.works(func(context.Context) error { return nil })
		f.want(t, deliver(at, policy(run.Policy{Wait: true})), 200, claim.OutcomeDuplicate)
		first.Wait()
		time.Sleep(time.Until(at))
		f.want(t, deliver(at), 200, claim.OutcomeExecuted)
		if runs := f.executions(); len(runs) != 2 || !runs[0].Forced || runs[1].Forced {
			t.Errorf("the work saw %+v; want a forced and a scheduled run", runs)
		}
	})
}

func TestForcedDeliveryThatWaitsTakesOverAsForced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		at := due().Add(60 * time.Second)
		name, id := nameOf(t, at, true)
		f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "dead", Attempt: 1, Counted: 1, Rev: 1, Lease: 40 * time.Second, Run: name})
		if got := f.want(t, deliver(at, policy(run.Policy{Wait: true})), 200, claim.OutcomeExecuted); got.run != name {
			t.Errorf("taken over as %s; want %s", got.run, name)
		}
		if runs := f.executions(); len(runs) != 1 || !runs[0].Forced || runs[0].Name != name {
			t.Errorf("the work saw %+v; want the forced run, though its time had come near", runs)
		}
	})
}

func TestWaitEndsWhenTheCallerHangsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		at := due()
		_, id := nameOf(t, at, false)
		f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Attempt: 1, Counted: 1, Rev: 1, Lease: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		f.want(t, deliver(at, policy(run.Policy{Wait: true})).WithContext(ctx), 409, claim.OutcomeInProgress)
		if held := time.Since(began); held != 5*time.Second {
			t.Errorf("the delivery was held for %v; want 5 s", held)
		}
	})
}

func TestWaitEndsWhenTheHandlerShutsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		at := due()
		_, id := nameOf(t, at, false)
		f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Attempt: 1, Counted: 1, Rev: 1, Lease: time.Hour})
		began := time.Now()
		var one sync.WaitGroup
		one.Go(func() { f.want(t, deliver(at, policy(run.Policy{Wait: true})), 409, claim.OutcomeInProgress) })
		time.Sleep(3 * time.Second)
		if err := f.handler.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		one.Wait()
		if held := time.Since(began); held != 3*time.Second {
			t.Errorf("the delivery was held for %v; want 3 s", held)
		}
	})
}
