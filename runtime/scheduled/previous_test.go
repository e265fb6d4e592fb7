package scheduled_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

func soon() time.Time { return time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second) }

// changed are a handler as it was and one as it is, over the same clocks, and over one store or two.
func changed(t *testing.T, was, is run.Policy, elsewhere bool) (before, after *fixture, clock *clocks) {
	t.Helper()
	clock = &clocks{}
	stores := []*memclaim.Store{memclaim.New(memclaim.WithClock(clock.storeNow)), memclaim.New(memclaim.WithClock(clock.storeNow))}
	before = newFixture(t, func(c *scheduled.Config) { c.Store, c.Policy, c.Now = stores[0], was, clock.localNow })
	after = newFixture(t, func(c *scheduled.Config) {
		c.Store, c.Policy, c.Now = stores[0], is, clock.localNow
		c.Previous = []run.Previous{{Until: soon(), Format: was.Format, Scope: was.Scope, Forced: was.Forced}}
		if elsewhere {
			c.Store, c.PreviousStore, c.NeedsPreviousStore = stores[1], stores[0], true
		}
	})
	return before, after, clock
}

func TestAChangeOfNamesRunsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was, is   run.Policy
		elsewhere bool
	}{
		"format":           {was: run.Policy{Format: run.FormatSample}},
		"scope":            {was: run.Policy{Scope: "eu"}, is: run.Policy{Scope: "world"}},
		"no scope":         {is: run.Policy{Scope: "world"}},
		"store":            {elsewhere: true},
		"store and format": {was: run.Policy{Format: run.FormatSample}, elsewhere: true},
	} {
		for _, direction := range []string{"forward", "back"} { // a rollout has both versions serving at once
			t.Run(name+" "+direction, func(t *testing.T) {
				t.Parallel()
				before, after, _ := changed(t, tt.was, tt.is, tt.elsewhere)
				first, second := before, after
				if direction == "back" {
					first, second = after, before
				}
				at := due()
				first.want(t, deliver(at), 200, claim.OutcomeExecuted)
				second.want(t, deliver(at), 200, claim.OutcomeDuplicate)
				first.want(t, deliver(at), 200, claim.OutcomeDuplicate)
				if n := len(before.executions()) + len(after.executions()); n != 1 {
					t.Errorf("the work ran %d times, want once", n)
				}
				first.works(func(ctx context.Context) error {
					second.want(t, deliver(at.Add(time.Second)), 409, claim.OutcomeInProgress)
					return claim.Check(ctx)
				})
				first.want(t, deliver(at.Add(time.Second)), 200, claim.OutcomeExecuted)
				first.works(func(context.Context) error { return errors.New("upstream said no") })
				first.want(t, deliver(at.Add(2*time.Second)), 500, claim.OutcomeReleased)
				second.want(t, deliver(at.Add(2*time.Second)), 200, claim.OutcomeExecuted)
			})
		}
	}
}

func TestAReplyKeepsTheOwnName(t *testing.T) {
	t.Parallel()
	before, after, _ := changed(t, run.Policy{Format: run.FormatSample}, run.Policy{}, false)
	at := due()
	want, _ := nameOf(t, at, false)
	if got := after.want(t, deliver(at), 200, claim.OutcomeExecuted); got.run != want || got.attempt != 1 {
		t.Errorf("the reply names %s, attempt %d; want %s", got.run, got.attempt, want)
	}
	if runs := after.executions(); runs[0].Name != want {
		t.Errorf("the work saw %s", runs[0].Name)
	}
	// What the work gives to other systems as a token is known to them by the earlier id, too.
	next := at.Add(time.Second)
	before.works(func(context.Context) error { return errors.New("died") })
	before.want(t, deliver(next), 500, claim.OutcomeReleased)
	after.want(t, deliver(next), 200, claim.OutcomeExecuted)
	was, is := before.executions()[0], after.executions()[1]
	if was.PreviousID != "" || is.PreviousID != was.ID || is.PreviousID == is.ID {
		t.Errorf("the work saw id %s before, and %s with previous id %s after", was.ID, is.ID, is.PreviousID)
	}
}

func TestAPreviousNameEndsWithItsTime(t *testing.T) {
	t.Parallel()
	before, after, clock := changed(t, run.Policy{Format: run.FormatSample}, run.Policy{}, false)
	at := due()
	before.want(t, deliver(at), 200, claim.OutcomeExecuted)
	clock.store.Store(int64(25 * time.Hour))
	after.want(t, deliver(at), 200, claim.OutcomeExecuted)
}

func TestForcedRunsAcrossAChangeOfTheirPolicy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was, is           run.ForcedPolicy
		forced, scheduled claim.Outcome // what the new handler answers to a run that the old one was forced to do
		first             claim.Outcome // what it answers to a forced run of its own
		then              claim.Outcome // and to the scheduled run after that
	}{
		"skip_next to separate": {run.ForcedSkipNext, run.ForcedSeparate, claim.OutcomeDuplicate, claim.OutcomeDuplicate,
			claim.OutcomeExecuted, claim.OutcomeDuplicate},
		"separate to skip_next": {run.ForcedSeparate, run.ForcedSkipNext, claim.OutcomeDuplicate, claim.OutcomeExecuted,
			claim.OutcomeExecuted, claim.OutcomeDuplicate},
		"separate to reject": {run.ForcedSeparate, run.ForcedReject, claim.OutcomeRejected, claim.OutcomeExecuted,
			claim.OutcomeRejected, claim.OutcomeExecuted},
		"reject to separate": {run.ForcedReject, run.ForcedSeparate, claim.OutcomeExecuted, claim.OutcomeExecuted,
			claim.OutcomeExecuted, claim.OutcomeExecuted},
	} {
		for clockName, wrong := range wrongClocks() {
			t.Run(name+", local clock "+clockName, func(t *testing.T) {
				t.Parallel()
				before, after, clock := changed(t, run.Policy{Forced: tt.was}, run.Policy{Forced: tt.is}, false)
				at, later := due().Add(5*time.Minute), due().Add(6*time.Minute)
				clock.wrong.Store(int64(wrong))
				before.send(t, deliver(at))
				after.want(t, deliver(at), 200, tt.forced)
				after.want(t, deliver(later), 200, tt.first)
				if runs := after.executions(); tt.first == claim.OutcomeExecuted && !runs[len(runs)-1].Forced {
					t.Error("the work was told of a scheduled run")
				}
				clock.store.Store(int64(7 * time.Minute))
				after.want(t, deliver(at), 200, tt.scheduled)
				after.want(t, deliver(later), 200, tt.then)
			})
		}
	}
}

// TestARunForcedFarAheadIsRememberedAsLongAsItMatters: until it can be forced again, or, where it was the scheduled one under its
// previous name, until that is due.
func TestARunForcedFarAheadIsRememberedAsLongAsItMatters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was, is          run.Policy
		again, scheduled claim.Outcome
	}{
		"separate under both names": {run.Policy{Scope: "eu"}, run.Policy{Scope: "world"}, claim.OutcomeExecuted, claim.OutcomeExecuted},
		"skip_next before":          {run.Policy{Forced: run.ForcedSkipNext}, run.Policy{}, claim.OutcomeDuplicate, claim.OutcomeDuplicate},
	} {
		tt.is.Horizon = time.Hour
		_, after, clock := changed(t, tt.was, tt.is, false)
		at := due().Add(20 * time.Hour)
		after.want(t, deliver(at), 200, claim.OutcomeExecuted)
		clock.store.Store(int64(59 * time.Minute))
		after.want(t, deliver(at), 200, claim.OutcomeDuplicate)
		clock.store.Store(int64(2 * time.Hour))
		if got := after.want(t, deliver(at), 200, tt.again); t.Failed() {
			t.Errorf("%s: forced again: %+v", name, got)
		}
		clock.store.Store(int64(20 * time.Hour))
		if got := after.want(t, deliver(at), 200, tt.scheduled); t.Failed() {
			t.Errorf("%s: scheduled: %+v", name, got)
		}
	}
}

func TestAPreviousStoreIsServedLikeTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memclaim.New()
		f := newFixture(t, func(c *scheduled.Config) {
			c.Previous, c.PreviousStore = []run.Previous{{Until: soon()}}, store
			c.ClaimOptions = []claim.Option{claim.WithHolder("this process")}
		})
		at := due()
		f.want(t, deliver(at), 200, claim.OutcomeExecuted)
		name, id := nameOf(t, at, false)
		for _, s := range []*memclaim.Store{f.store, store} {
			if snap, err := s.Get(t.Context(), id); err != nil || snap.Holder != "this process" || snap.Status != claim.StatusCompleted {
				t.Errorf("the record is %+v, %v", snap.Record, err)
			}
		}
		if r := f.executions()[0]; r.Name != name || r.PreviousID != "" {
			t.Errorf("the work saw %+v; want no previous id of a run that has the same", r)
		}
		// Shutdown waits for what is left open there, too.
		store.Before(func(context.Context, memclaim.Verb, string) error { return errWork })
		f.want(t, deliver(at.Add(time.Second)), 500, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			time.Sleep(500 * time.Millisecond)
			store.Before(nil)
		}()
		if err := f.handler.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		store.Before(func(context.Context, memclaim.Verb, string) error {
			t.Error("the previous store is asked after the end")
			return nil
		})
		time.Sleep(time.Minute)
	})
}

func TestAPreviousNameEndsAtItsTime(t *testing.T) {
	t.Parallel()
	until := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for early, want := range map[time.Duration]claim.Outcome{time.Microsecond: claim.OutcomeDuplicate, 0: claim.OutcomeExecuted} {
		now := func() time.Time { return until.Add(-early) }
		f := newFixture(t, func(c *scheduled.Config) {
			c.Store, c.Now = memclaim.New(memclaim.WithClock(now)), now
			c.Previous = []run.Previous{{Until: until, Scope: "eu"}}
		})
		name, err := run.Identity{Scope: "eu", ScheduleTime: until}.Name()
		if err != nil {
			t.Fatal(err)
		}
		f.store.Put(run.ID(name), claim.Record{Status: claim.StatusCompleted})
		f.want(t, deliver(until), 200, want)
	}
}

func TestPreviousOfAJobIsThatJobsAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *scheduled.Config) {
		c.Jobs = map[string]scheduled.Work{"a": c.Jobs[job], "b": c.Jobs[job], "c": c.Jobs[job]}
		c.Previous = []run.Previous{{Job: "a", Until: soon(), Scope: "was_a"}, {Until: soon(), Scope: "was_all"}}
	})
	for name, scope := range map[string]string{"a": "was_a", "b": "was_all"} {
		r := deliver(due())
		r.Header.Set(run.HeaderJobName, name)
		f.want(t, r, 200, claim.OutcomeExecuted)
		id := run.ID("scopes/" + scope + "/runs/" + run.FormatTime(due()))
		if _, err := f.store.Get(t.Context(), id); err != nil && !errors.Is(err, claim.ErrNotFound) {
			t.Error(err)
		}
	}
	// Under its scope the job c had the same runs as b.
	r := deliver(f.executions()[0].ScheduleTime)
	r.Header.Set(run.HeaderJobName, "c")
	if got := f.send(t, r); got.status != 200 {
		t.Errorf("got %+v", got)
	}
}

func TestPreviousFromTheEnvironment(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		run.EnvCaller: "verify", run.EnvAudiences: "https://x.example", run.EnvProject: project,
		run.EnvPrevious: "until=2027-01-31T00:00:00Z;format=sample", run.EnvPreviousStore: "postgres://user:s3cret@db/claims",
	}
	cfg, err := scheduled.FromEnv(func(key string) string { return base[key] })
	if err != nil || len(cfg.Previous) != 1 || cfg.Previous[0].Format != run.FormatSample || !cfg.NeedsPreviousStore {
		t.Fatalf("%+v, %v", cfg.Previous, err)
	}
	cfg.Store, cfg.Work = memclaim.New(), func(context.Context, run.Run) error { return nil }
	if _, err := scheduled.NewHandler(cfg); err == nil || !strings.Contains(err.Error(), "previous store is missing: open the one that "+run.EnvPreviousStore) ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a previous store that nobody opened: %v", err)
	}
	cfg.PreviousStore = cfg.Store
	if _, err := scheduled.NewHandler(cfg); err == nil || !strings.Contains(err.Error(), "previous store is the store") {
		t.Errorf("a previous store that is the store: %v", err)
	}
	cfg.PreviousStore = memclaim.New()
	if _, err := scheduled.NewHandler(cfg); err != nil {
		t.Error(err)
	}
	cfg.Previous = nil
	if _, err := scheduled.NewHandler(cfg); err == nil || !strings.Contains(err.Error(), "previous is missing") {
		t.Errorf("a previous store without an end: %v", err)
	}
	for value, want := range map[string]string{
		"format=sample": `environment variable IDEMPOTENT_PREVIOUS cannot be read: policy key "until" is missing`,
		"":              "environment variable IDEMPOTENT_PREVIOUS is not set beside IDEMPOTENT_PREVIOUS_STORE",
	} {
		_, err := scheduled.FromEnv(func(key string) string {
			if key == run.EnvPrevious {
				return value
			}
			return base[key]
		})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%q: %v; want %s", run.EnvPrevious, value, err, want)
		}
	}
}
