package scheduled_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// clocks are those of a store and of a handler, which may be wrong.
type clocks struct{ store, wrong atomic.Int64 }

func (c *clocks) storeNow() time.Time { return time.Now().Add(time.Duration(c.store.Load())) }
func (c *clocks) localNow() time.Time { return c.storeNow().Add(time.Duration(c.wrong.Load())) }

func newClocked(t *testing.T, wrong time.Duration, change func(*scheduled.Config)) (*fixture, *clocks) {
	t.Helper()
	c := &clocks{}
	c.wrong.Store(int64(wrong))
	f := newFixture(t, func(cfg *scheduled.Config) {
		cfg.Store = memclaim.New(memclaim.WithClock(c.storeNow))
		cfg.Now = c.localNow
		if change != nil {
			change(cfg)
		}
	})
	return f, c
}

// wrongClocks are local clocks that are right, ten minutes behind and ten minutes ahead.
func wrongClocks() map[string]time.Duration {
	return map[string]time.Duration{"right": 0, "behind": -10 * time.Minute, "ahead": 10 * time.Minute}
}

func TestForcedRunIsKeptApartFromTheScheduledOne(t *testing.T) {
	t.Parallel()
	for name, wrong := range wrongClocks() {
		f, clock := newClocked(t, wrong, nil)
		at := due().Add(5 * time.Minute)
		forcedName, _ := nameOf(t, at, true)
		plainName, plainID := nameOf(t, at, false)

		if got := f.want(t, deliver(at), 200, claim.OutcomeExecuted); got.run != forcedName {
			t.Errorf("%s: the forced run is %s; want %s", name, got.run, forcedName)
		}
		f.want(t, deliver(at), 200, claim.OutcomeDuplicate)
		if snap, err := f.store.Get(t.Context(), plainID); err == nil && snap.Status != claim.StatusReleased {
			t.Errorf("%s: the scheduled run's record is %s; want none, or a released one", name, snap.Status)
		}
		clock.store.Store(int64(5 * time.Minute))
		if got := f.want(t, deliver(at), 200, claim.OutcomeExecuted); got.run != plainName {
			t.Errorf("%s: the scheduled run is %s; want %s", name, got.run, plainName)
		}
		f.want(t, deliver(at), 200, claim.OutcomeDuplicate)
		runs := f.executions()
		if len(runs) != 2 || !runs[0].Forced || runs[1].Forced {
			t.Errorf("%s: the work saw %+v; want a forced and a scheduled run", name, runs)
		}
	}
}

func TestScheduledRunIsPlainWhateverTheLocalClock(t *testing.T) {
	t.Parallel()
	for name, wrong := range wrongClocks() {
		f, _ := newClocked(t, wrong, nil)
		at := due().Add(20 * time.Second) // early, but within the slack
		plainName, _ := nameOf(t, at, false)
		got := f.want(t, deliver(at), 200, claim.OutcomeExecuted)
		if runs := f.executions(); got.run != plainName || len(runs) != 1 || runs[0].Forced || runs[0].Attempt != 1 {
			t.Errorf("%s: got %+v and the work saw %+v; want the plain run", name, got, runs)
		}
	}
}

func TestSlackBelongsToTheScheduledRun(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)
	for ahead, forced := range map[time.Duration]bool{30 * time.Second: false, 31 * time.Second: true} {
		f := newFixture(t, func(c *scheduled.Config) {
			c.Store = memclaim.New(memclaim.WithClock(func() time.Time { return base }))
			c.Now = func() time.Time { return base }
		})
		f.want(t, deliver(base.Add(ahead)), 200, claim.OutcomeExecuted)
		if runs := f.executions(); len(runs) != 1 || runs[0].Forced != forced {
			t.Errorf("%v ahead: the work saw %+v; want forced = %v", ahead, runs, forced)
		}
	}
}

func TestClockOnceLearnedSavesTheWithdrawal(t *testing.T) {
	t.Parallel()
	f, _ := newClocked(t, 10*time.Minute, nil)
	f.want(t, deliver(due().Add(5*time.Minute)), 200, claim.OutcomeExecuted)
	var calls counter
	f.store.Before(calls.hook)
	f.want(t, deliver(due().Add(6*time.Minute)), 200, claim.OutcomeExecuted)
	if i, s, g := calls.insert.Load(), calls.swap.Load(), calls.get.Load(); i != 1 || s != 1 || g != 1 {
		t.Errorf("a forced run took %d inserts, %d swaps, %d gets; want one of each", i, s, g)
	}
	calls = counter{}
	f.want(t, deliver(due()), 200, claim.OutcomeExecuted)
	if i, s, g := calls.insert.Load(), calls.swap.Load(), calls.get.Load(); i != 1 || s != 1 || g != 0 {
		t.Errorf("a scheduled run took %d inserts, %d swaps, %d gets; want an insert and a swap", i, s, g)
	}
}

func TestWithdrawalLeavesTheCountOfAttemptsAlone(t *testing.T) {
	t.Parallel()
	f, clock := newClocked(t, 10*time.Minute, nil)
	at, once := due().Add(5*time.Minute), policy(run.Policy{MaxAttempts: 1})
	f.want(t, deliver(at, once), 200, claim.OutcomeExecuted)
	clock.store.Store(int64(5 * time.Minute))
	f.want(t, deliver(at, once), 200, claim.OutcomeExecuted)
}

func TestWithdrawalThatCannotBeConfirmedRunsNothing(t *testing.T) {
	t.Parallel()
	f, _ := newClocked(t, 10*time.Minute, func(c *scheduled.Config) {
		c.ClaimOptions = []claim.Option{claim.WithStoreTimeout(50 * time.Millisecond)}
	})
	var inserted atomic.Bool
	f.store.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
		if verb == memclaim.Insert && !inserted.Swap(true) {
			return nil
		}
		return errWork
	})
	f.want(t, deliver(due().Add(5*time.Minute)), 500, "")
	if n := len(f.executions()); n != 0 {
		t.Errorf("the work was called %d times", n)
	}
	f.store.Before(nil)
	if err := f.handler.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestForcedRunIsRejectedOnTheStoresWordOnly(t *testing.T) {
	t.Parallel()
	reject := policy(run.Policy{Forced: run.ForcedReject})
	for name, wrong := range wrongClocks() {
		f, clock := newClocked(t, wrong, nil)
		at := due().Add(5 * time.Minute)
		f.want(t, deliver(at, reject), 200, claim.OutcomeRejected)
		if n := len(f.executions()); n != 0 {
			t.Errorf("%s: a forced run was executed", name)
		}
		clock.store.Store(int64(5 * time.Minute))
		f.want(t, deliver(at, reject), 200, claim.OutcomeExecuted)
		if runs := f.executions(); len(runs) != 1 || runs[0].Forced {
			t.Errorf("%s: the work saw %+v", name, runs)
		}
	}
}

func TestSkipNextTakesTheForcedRunForTheScheduledOne(t *testing.T) {
	t.Parallel()
	for _, p := range []run.Policy{{Forced: run.ForcedSkipNext}, {Format: run.FormatSample}} {
		for name, wrong := range wrongClocks() {
			f, clock := newClocked(t, wrong, nil)
			at := due().Add(5 * time.Minute)
			f.want(t, deliver(at, policy(p)), 200, claim.OutcomeExecuted)
			clock.store.Store(int64(5 * time.Minute))
			f.want(t, deliver(at, policy(p)), 200, claim.OutcomeDuplicate)
			if runs := f.executions(); len(runs) != 1 || !runs[0].Forced || runs[0].Attempt != 1 {
				t.Errorf("%s: the work saw %+v; want one forced run, claimed once", name, runs)
			}
		}
	}
}

func TestSkipNextRemembersTheForcedRunUntilTheScheduledOne(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	for _, p := range []run.Policy{{Forced: run.ForcedSkipNext, Horizon: time.Hour}, {Format: run.FormatSample, Horizon: time.Hour}} {
		for name, wrong := range wrongClocks() {
			f, clock := newClocked(t, wrong, nil)
			at := due().Add(month)
			f.want(t, deliver(at, policy(p)), 200, claim.OutcomeExecuted)
			clock.store.Store(int64(month))
			if got := f.want(t, deliver(at, policy(p)), 200, claim.OutcomeDuplicate); got.attempt != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestForcedRunCanBeForcedAgainAfterTheHorizon(t *testing.T) {
	t.Parallel()
	f, clock := newClocked(t, 0, nil)
	at := due().Add(30 * 24 * time.Hour)
	hour := policy(run.Policy{Horizon: time.Hour})
	f.want(t, deliver(at, hour), 200, claim.OutcomeExecuted)
	clock.store.Store(int64(59 * time.Minute))
	f.want(t, deliver(at, hour), 200, claim.OutcomeDuplicate)
	clock.store.Store(int64(61 * time.Minute))
	f.want(t, deliver(at, hour), 200, claim.OutcomeExecuted)
}

func TestMovedClockOfALocalCloudClassifiesOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	at := due().Add(240 * time.Hour)
	moved := func(h http.Header) { h.Set(run.HeaderClock, at.Format(time.RFC3339)) }
	for _, test := range []struct {
		name   string
		local  bool
		peer   string
		forced bool
	}{
		{"local cloud", true, "127.0.0.1:4711", false},
		{"another peer", true, "192.0.2.1:4711", true},
		{"no local cloud", false, "127.0.0.1:4711", true},
	} {
		f := newFixture(t, func(c *scheduled.Config) { c.LocalCloud = test.local })
		r := deliver(at, moved)
		r.RemoteAddr = test.peer
		f.want(t, r, 200, claim.OutcomeExecuted)
		if runs := f.executions(); len(runs) != 1 || runs[0].Forced != test.forced {
			t.Errorf("%s: the work saw %+v; want forced = %v", test.name, runs, test.forced)
		}
	}
	f := newFixture(t, func(c *scheduled.Config) { c.LocalCloud = true })
	early := deliver(at, func(h http.Header) { h.Set(run.HeaderClock, at.Add(-time.Hour).Format(time.RFC3339)) })
	early.RemoteAddr = "[::1]:4711"
	f.want(t, early, 200, claim.OutcomeExecuted)
	if runs := f.executions(); len(runs) != 1 || !runs[0].Forced {
		t.Errorf("an hour ahead of the moved clock the work saw %+v; want a forced run", runs)
	}
	f = newFixture(t, func(c *scheduled.Config) { c.LocalCloud = true })
	policy(run.Policy{Forced: run.ForcedSkipNext})(early.Header)
	f.want(t, early, 200, claim.OutcomeExecuted)
	if runs := f.executions(); len(runs) != 1 || !runs[0].Forced {
		t.Errorf("under skip_next the work saw %+v; want a forced run", runs)
	}
}
