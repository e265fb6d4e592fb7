package scheduled_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// store that may lose claims when it fails over, as Redis may.
type forgetful struct{ *memclaim.Store }

func (forgetful) Caps() claim.Caps { return claim.Caps{Store: "forgetful"} }

var errWork = errors.New("disk full")

func TestWorkThatSucceedsIsExecutedOnceAndDuplicateAfterwards(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	at := due()
	name, id := nameOf(t, at, false)
	got := f.want(t, deliver(at), 200, claim.OutcomeExecuted)
	if got.run != name || got.id != id || got.attempt != 1 || got.kind != "application/json" {
		t.Errorf("the reply says %+v; want run %s with id %s, attempt 1", got, name, id)
	}
	f.want(t, deliver(at), 200, claim.OutcomeDuplicate)
	runs := f.executions()
	if len(runs) != 1 || runs[0].Name != name || runs[0].ID != id || runs[0].Attempt != 1 || runs[0].Forced || !runs[0].ScheduleTime.Equal(at) {
		t.Errorf("the work saw %+v", runs)
	}
}

func TestAnyMethodIsADelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for i, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"} {
		r := deliver(due().Add(-time.Duration(i) * time.Minute))
		r.Method = method
		f.want(t, r, 200, claim.OutcomeExecuted)
	}
}

func TestErrorAfterTheCompletionCommittedIsExecuted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.works(func(ctx context.Context) error {
		if err := memclaim.CompleteTx(ctx, func(context.Context) error { return nil }); err != nil {
			return err
		}
		return errWork
	})
	got := f.want(t, deliver(due()), 200, claim.OutcomeExecuted)
	if got.detail != "the work was done, and returned an error after it was recorded" || !strings.Contains(f.log.String(), errWork.Error()) {
		t.Errorf("got %+v, log %s", got, f.log)
	}
}

func TestLiveLeaseOfAnotherAttemptIsInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	started, finish := make(chan struct{}), make(chan struct{})
	f.works(func(context.Context) error { close(started); <-finish; return nil })
	at := due()
	var first sync.WaitGroup
	first.Go(func() { f.want(t, deliver(at), 200, claim.OutcomeExecuted) })
	<-started
	got := f.want(t, deliver(at), 409, claim.OutcomeInProgress)
	if got.retryAfter != "210" || got.kind != "application/problem+json" || got.mend == "" {
		t.Errorf("got %+v; want Retry-After 210, a problem with a mend", got)
	}
	close(finish)
	first.Wait()
}

func TestLostClaimIsLostOrDuplicate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		found  claim.Status
		status int
		want   claim.Outcome
	}{
		{claim.StatusInProgress, 409, claim.OutcomeLost},
		{claim.StatusCompleted, 200, claim.OutcomeDuplicate},
	} {
		f := newFixture(t, nil)
		at := due()
		_, id := nameOf(t, at, false)
		f.works(func(context.Context) error {
			f.store.Put(id, claim.Record{Status: test.found, AttemptID: "other", Attempt: 2, Counted: 2, Rev: 9, Lease: time.Minute})
			return nil
		})
		f.want(t, deliver(at), test.status, test.want)
	}
}

func TestWorkThatFailsIsReleasedAndRunsAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errWork },
		"panic": func(context.Context) error { panic("boom") },
	} {
		f := newFixture(t, nil)
		f.works(fail)
		at := due()
		got := f.want(t, deliver(at), 500, claim.OutcomeReleased)
		if strings.Contains(got.detail, errWork.Error()) {
			t.Errorf("%s: the reply shows the work's error: %s", name, got.detail)
		}
		f.works(func(context.Context) error { return nil })
		if got := f.want(t, deliver(at), 200, claim.OutcomeExecuted); got.attempt != 2 {
			t.Errorf("%s: got attempt %d; want 2", name, got.attempt)
		}
	}
}

func TestPermanentFailureIsFailedForGood(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.works(func(context.Context) error { return claim.Permanent(errWork) })
	at := due()
	f.want(t, deliver(at), 422, claim.OutcomeFailed)
	f.want(t, deliver(at), 422, claim.OutcomeFailed)
	if n := len(f.executions()); n != 1 {
		t.Errorf("the work was called %d times; want once", n)
	}
}

func TestMaxAttemptsReachedIsFailed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.works(func(context.Context) error { return errWork })
	at, twice := due(), policy(run.Policy{MaxAttempts: 2})
	f.want(t, deliver(at, twice), 500, claim.OutcomeReleased)
	f.want(t, deliver(at, twice), 422, claim.OutcomeFailed)
	f.want(t, deliver(at, twice), 422, claim.OutcomeFailed)
	if n := len(f.executions()); n != 2 {
		t.Errorf("the work was called %d times; want twice", n)
	}
}

func TestAtMostOnceWithAnOpenOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.works(func(context.Context) error { return errWork })
	at, once := due(), policy(run.Policy{AtMostOnce: true})
	f.want(t, deliver(at, once), 422, claim.OutcomeUnknown)
	f.want(t, deliver(at, once), 422, claim.OutcomeUnknown)
	f.works(func(context.Context) error { return claim.NothingDone(errWork) })
	f.want(t, deliver(at.Add(-time.Minute), once), 500, claim.OutcomeReleased)
}

func TestWorkDoneThatCannotBeStoredIsUnrecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.works(func(context.Context) error {
			f.store.Before(func(context.Context, memclaim.Verb, string) error { return errWork })
			return nil
		})
		f.want(t, deliver(due()), 500, claim.OutcomeUnrecorded)
	})
}

func TestNothingRunsWhenTheStoreIsUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.store.Before(func(context.Context, memclaim.Verb, string) error { return errWork })
		stranger := newFixture(t, func(c *scheduled.Config) {
			c.Store, c.Caller, c.Project, c.Region = f.store, checkerFunc(unverified), project, region
		})
		for _, at := range []time.Time{due(), due().Add(time.Hour)} {
			got := f.want(t, deliver(at), 500, "")
			if !strings.HasPrefix(got.detail, "the store could not be asked, nothing was run: ") || !strings.Contains(got.detail, errWork.Error()) {
				t.Errorf("a verified caller is not told of the cause: %+v", got)
			}
			got = stranger.want(t, deliver(at), 500, "")
			if got.detail != "the store could not be asked, nothing was run" || strings.Contains(got.detail+got.mend, errWork.Error()) {
				t.Errorf("anybody is told of the cause: %+v", got)
			}
		}
		if err := stranger.handler.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(f.executions()); n != 0 {
			t.Errorf("the work was called %d times", n)
		}
		f.store.Before(nil)
		if err := f.handler.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingRunsWhenThePolicyCannotBeHonoured(t *testing.T) {
	t.Parallel()
	store := forgetful{memclaim.New()}
	f := newFixture(t, func(c *scheduled.Config) { c.Store, c.RequestTimeout = store, 5*time.Minute })
	const prefix, mend = "the policy cannot be honoured, nothing was run: ", "make the job and its handler agree: apply the one and deploy the other"
	const longer = "is beyond the longest request that this handler allows, 5m0s: set the job's request_timeout to that, or raise the platform's limit and IDEMPOTENT_REQUEST_TIMEOUT"
	for header, want := range map[string]string{
		"v=2;deadline=1s":                        `policy key "v" with value "2" is unknown: this library reads v=1; update it to the provider's version`,
		"v=1;colour=red":                         `policy key "colour" is unknown: update this handler's library to the provider's version`,
		"v=1;timeout=301s":                       `policy key "timeout" with value "5m1s" ` + longer,
		"v=1;deadline=1800s":                     `policy key "deadline" with value "30m0s" ` + longer,
		"v=1;at_most_once=true":                  `policy key "at_most_once" with value "true" cannot be honoured by the store forgetful, which may lose claims when it fails over: use another store`,
		"v=1;schedule=0 3 * * * *":               "",
		"v=1;schedule=0 3 * * *;tz=Mars/Olympus": "",
	} {
		got := f.want(t, deliver(due(), func(h http.Header) { h.Set(run.HeaderPolicy, header) }), 500, "")
		switch {
		case want != "" && got.detail != prefix+want, got.mend != mend:
			t.Errorf("%s: got %q, mend %q; want %q", header, got.detail, got.mend, prefix+want)
		case want == "" && !strings.HasPrefix(got.detail, prefix+`policy key "`):
			t.Errorf("%s: got %q", header, got.detail)
		}
	}
	if n := len(f.executions()); n != 0 {
		t.Errorf("the work was called %d times", n)
	}
	f.want(t, deliver(due(), policy(run.Policy{Deadline: 30 * time.Minute, Timeout: 5 * time.Minute})), 200, claim.OutcomeExecuted)
}

func TestNothingRunsWhenTheRequestTookAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.store.After(func(_ context.Context, verb memclaim.Verb, _ string) error {
			if verb == memclaim.Insert {
				time.Sleep(time.Second)
			}
			return nil
		})
		got := f.want(t, deliver(due(), policy(run.Policy{Timeout: 500 * time.Millisecond})), 500, "")
		if got.detail != "too little time was left for the work, nothing was run" || len(f.executions()) != 0 {
			t.Errorf("got %+v, executions %v", got, f.executions())
		}
	})
}

func TestALongErrorOfTheStoreIsCutWhereACharacterEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *scheduled.Config) {
		c.ClaimOptions = []claim.Option{claim.WithStoreTimeout(10 * time.Millisecond)}
	})
	f.store.Before(func(context.Context, memclaim.Verb, string) error { return errors.New(strings.Repeat("ä", 1000)) })
	for _, odd := range []int{0, 1} {
		at := due().Add(time.Hour)
		got := f.want(t, deliver(at, func(h http.Header) { h.Set(run.HeaderRegion, "r"+strings.Repeat("x", odd)) }), 500, "")
		if len(got.detail) > 700 || !strings.HasSuffix(got.detail, "ä…") {
			t.Errorf("%d bytes of it are told: %s", len(got.detail), got.detail)
		}
	}
}

func TestNothingRunsWhenTheClaimTookAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.store.After(func(_ context.Context, verb memclaim.Verb, _ string) error {
			if verb == memclaim.Insert {
				time.Sleep(time.Second)
			}
			return nil
		})
		got := f.want(t, deliver(due(), policy(run.Policy{Lease: 500 * time.Millisecond})), 500, "")
		if got.detail != "too little time was left for the work, nothing was run" || len(f.executions()) != 0 {
			t.Errorf("got %+v, executions %v", got, f.executions())
		}
	})
}

func TestShutdownCancelsWorkWithCauseAndRefusesWhatComes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	started := make(chan struct{})
	f.works(func(ctx context.Context) error { close(started); <-ctx.Done(); return context.Cause(ctx) })
	at := due()
	var first sync.WaitGroup
	first.Go(func() { f.want(t, deliver(at), 500, claim.OutcomeReleased) })
	<-started
	if err := f.handler.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	first.Wait()
	got := f.want(t, deliver(at), 500, "")
	if got.detail != "the handler is shutting down, nothing was run" {
		t.Errorf("got %+v", got)
	}
	_, id := nameOf(t, at, false)
	if snap, err := f.store.Get(t.Context(), id); err != nil || snap.Status != claim.StatusReleased || snap.Counted != 0 {
		t.Errorf("the record is %+v, %v; want it released and not counted", snap.Record, err)
	}
}

func TestShutdownEndsWithItsContextWhenWorkDoesNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		started := make(chan struct{})
		f.works(func(context.Context) error { close(started); time.Sleep(time.Minute); return errWork })
		var first sync.WaitGroup
		first.Go(func() { f.send(t, deliver(due())) })
		<-started
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.handler.Shutdown(ctx); err == nil {
			t.Error("no word of the work that did not return")
		}
		first.Wait()
		if err := f.handler.Shutdown(t.Context()); err != nil {
			t.Errorf("once it has, another shutdown: %v", err)
		}
	})
}

func TestRefusalsOfTheCheckerAreAnswered(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 500} {
		f := newFixture(t, func(c *scheduled.Config) {
			c.Caller = checkerFunc(func(*http.Request) (caller.Caller, error) {
				return caller.Caller{}, &caller.Error{Status: status, Reason: "why", Remedy: "do", Err: errWork}
			})
		})
		got := f.want(t, deliver(due()), status, "")
		if got.detail != "why" || got.mend != "do" || !strings.Contains(f.log.String(), errWork.Error()) {
			t.Errorf("got %+v, log %s", got, f.log)
		}
	}
	f := newFixture(t, func(c *scheduled.Config) {
		c.Caller = checkerFunc(func(*http.Request) (caller.Caller, error) { return caller.Caller{}, errWork })
	})
	if got := f.want(t, deliver(due()), 500, ""); strings.Contains(got.detail+got.mend, errWork.Error()) {
		t.Errorf("the reply shows an error that was not meant for it: %+v", got)
	}
}

func TestJobsAreDispatchedByName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	other := func(h http.Header) { h.Set(run.HeaderJobName, "other") }
	got := f.want(t, deliver(due(), other), 404, "")
	if got.detail != `this handler has no work for job "other"` {
		t.Errorf("got %+v", got)
	}
	var seen run.Run
	anyJob := newFixture(t, func(c *scheduled.Config) {
		c.Work = func(_ context.Context, r run.Run) error { seen = r; return nil }
	})
	anyJob.want(t, deliver(due(), other), 200, claim.OutcomeExecuted)
	if seen.Job != "other" || len(anyJob.executions()) != 0 {
		t.Errorf("the work of any job saw %+v, that of its own %v", seen, anyJob.executions())
	}
	anyJob.want(t, deliver(due()), 200, claim.OutcomeExecuted)
	if seen.Job != "other" || len(anyJob.executions()) != 1 {
		t.Errorf("the work of any job saw %+v, that of its own %v; want a job of its own to go to its own", seen, anyJob.executions())
	}
}
