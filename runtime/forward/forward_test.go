package forward_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// script is a target that answers as it is told, and notes when it was called.
type script struct {
	starts []error // by call; beyond: nil
	finds  func(after time.Duration) (string, error)
	begun  time.Time
	calls  []string
}

var errLost = errors.New("unavailable")

func (s *script) String() string { return "target" }

func (s *script) note(what string) time.Duration {
	at := time.Since(s.begun)
	s.calls = append(s.calls, fmt.Sprintf("%s@%v", what, at))
	return at
}

func (s *script) Start(context.Context, run.Run) (string, error) {
	s.note("start")
	if len(s.starts) == 0 {
		return "started", nil
	}
	err := s.starts[0]
	s.starts = s.starts[1:]
	if err != nil {
		return "", err
	}
	return "started", nil
}

func (s *script) Find(context.Context, run.Run, time.Time) (string, error) {
	at := s.note("find")
	if s.finds == nil {
		return "", nil
	}
	return s.finds(at)
}

// attempt claims a run as the given attempt and does the work of the job.
func attempt(t *testing.T, job forward.Job, number int, deadline time.Duration) claim.Result {
	t.Helper()
	job.Logger = slog.New(slog.DiscardHandler)
	work, err := forward.Work(job)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Run{Identity: run.Identity{ScheduleTime: time.Now()}, ID: "id", Name: "name", Attempt: number}
	claimer := claim.New(memclaim.New(), claim.WithLogger(job.Logger))
	p := claim.Proposal{ID: "id", Run: "name", Deadline: deadline, Lease: deadline + 30*time.Second, Retention: time.Hour}
	return claimer.Do(t.Context(), p, func(ctx context.Context) error { return work(ctx, r) })
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	nothing := func(time.Duration) (string, error) { return "", nil }
	from := func(d time.Duration) func(time.Duration) (string, error) {
		return func(at time.Duration) (string, error) {
			if at >= d {
				return "found", nil
			}
			return "", nil
		}
	}
	broken := func(time.Duration) (string, error) { return "", errLost }
	refusal := forward.Refused(errors.New("permission denied"))
	const usual = 3 * time.Minute
	for name, tt := range map[string]struct {
		target   *script
		job      forward.Job
		attempt  int
		deadline time.Duration
		outcome  claim.Outcome
		result   string
		starts   string // when
	}{
		"one call when all is well":                  {&script{}, forward.Job{}, 1, usual, claim.OutcomeExecuted, "started", "0s"},
		"a lost reply is found":                      {&script{starts: []error{errLost}, finds: from(4 * time.Second)}, forward.Job{}, 1, usual, claim.OutcomeExecuted, "found", "0s"},
		"nothing found decides at deadline + 30 s":   {&script{starts: []error{errLost}}, forward.Job{}, 1, usual, claim.OutcomeExecuted, "started", "0s 50s"},
		"the timeout is the job's":                   {&script{starts: []error{errLost}}, forward.Job{CallTimeout: 5 * time.Second}, 1, usual, claim.OutcomeExecuted, "started", "0s 35s"},
		"a later attempt looks first":                {&script{finds: from(0)}, forward.Job{}, 2, usual, claim.OutcomeExecuted, "found", ""},
		"a later attempt waits 30 s before it calls": {&script{}, forward.Job{}, 2, usual, claim.OutcomeExecuted, "started", "30s"},
		"a refusal starts nothing":                   {&script{starts: []error{refusal}}, forward.Job{}, 1, usual, claim.OutcomeReleased, "", "0s"},
		"too short to decide, held":                  {&script{starts: []error{errLost}, finds: nothing}, forward.Job{}, 1, 30 * time.Second, claim.OutcomeUnknown, "", "0s"},
		"too short to decide, run again":             {&script{starts: []error{errLost}, finds: nothing}, forward.Job{OnUnknown: forward.Rerun}, 1, 30 * time.Second, claim.OutcomeExecuted, "started", "0s 23s"},
		"look-ups that fail, held":                   {&script{starts: []error{errLost}, finds: broken}, forward.Job{}, 1, usual, claim.OutcomeUnknown, "", "0s"},
		"a later attempt whose look-ups fail, held":  {&script{finds: broken}, forward.Job{}, 2, usual, claim.OutcomeUnknown, "", ""},
		"a later attempt whose look-ups fail, rerun": {&script{finds: broken}, forward.Job{OnUnknown: forward.Rerun}, 2, usual, claim.OutcomeExecuted, "started", "2m53s"},
		"lost until no call can be looked up":        {&script{starts: []error{errLost, errLost, errLost}}, forward.Job{}, 1, usual, claim.OutcomeReleased, "", "0s 50s 1m40s"},
		"without a schedule time":                    {&script{}, forward.Job{}, 0, usual, claim.OutcomeFailed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tt.target.begun = time.Now()
				tt.job.Target = tt.target
				res := attempt(t, tt.job, tt.attempt, tt.deadline)
				if res.Outcome != tt.outcome || string(res.Record.Result) != tt.result {
					t.Errorf("outcome %s (%v) with result %q, want %s with %q", res.Outcome, res.Err, res.Record.Result, tt.outcome, tt.result)
				}
				var starts []string
				for _, call := range tt.target.calls {
					if at, ok := strings.CutPrefix(call, "start@"); ok {
						starts = append(starts, at)
					}
				}
				if got := strings.Join(starts, " "); got != tt.starts {
					t.Errorf("started at %q, want %q; all calls: %v", got, tt.starts, tt.target.calls)
				}
			})
		})
	}
}

// Shutdown leaves the question to the next attempt, which can still decide it.
// byToken is a target that knows one execution, by the token that it was started with.
type byToken struct {
	script

	token string
}

func (b *byToken) Find(_ context.Context, r run.Run, _ time.Time) (string, error) {
	if r.ID == b.token {
		return "found", nil
	}
	return "", nil
}

func TestAnExecutionIsFoundByTheTokenOfThePreviousName(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"id", "id-before"} {
		target := &byToken{token: token}
		work, err := forward.Work(forward.Job{Target: target, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r := run.Run{Identity: run.Identity{ScheduleTime: time.Now()}, ID: "id", PreviousID: "id-before", Name: "name", Attempt: 2}
		if err := work(t.Context(), r); err != nil || len(target.calls) != 0 {
			t.Errorf("known by %s: %v, calls %v; want it found and nothing started", token, err, target.calls)
		}
	}
}

func TestShutdownLeavesALostReplyToTheNextAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target := &script{starts: []error{errLost}, begun: time.Now()}
		work, err := forward.Work(forward.Job{Target: target, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		store := memclaim.New()
		claimer := claim.New(store, claim.WithLogger(slog.New(slog.DiscardHandler)))
		go func() {
			time.Sleep(10 * time.Second)
			if err := claimer.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		p := claim.Proposal{ID: "id", Run: "name", Deadline: time.Minute, Lease: 2 * time.Minute, Retention: time.Hour}
		res := claimer.Do(t.Context(), p, func(ctx context.Context) error {
			return work(ctx, run.Run{ID: "id", Name: "name", Attempt: 1})
		})
		if res.Outcome != claim.OutcomeReleased || !errors.Is(res.Err, claim.ErrShutdown) {
			t.Errorf("outcome %s (%v), want released by shutdown", res.Outcome, res.Err)
		}
	})
}

func TestJobsThatCannotBeServedAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := forward.Jobs(map[string]forward.Job{
		"a": {}, "b": {Target: &script{}, OnUnknown: "retry"}, "c": {Target: &script{}, CallTimeout: -1}, "d": {Target: &script{}},
	})
	want := `forward job "a": target is missing: say what its runs start
forward job "b": on_unknown is "retry", it must be hold or rerun
forward job "c": call timeout is -1ns, it must not be negative`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestNamesAreWhole(t *testing.T) {
	t.Parallel()
	project, location, err := forward.CheckName("jobs", "projects/example.com:acme/locations/europe-west1/jobs/nightly")
	if err != nil || project != "example.com:acme" || location != "europe-west1" {
		t.Error(project, location, err)
	}
	for _, name := range []string{
		"", "nightly", "projects/a/locations/b/jobs/", "projects/a/locations/b/workflows/c", "projects/a/locations/b/jobs/c/d", "projects/a/locations/B/jobs/c",
		"projects/a/locations/b/jobs/c\n", "//run.googleapis.com/projects/a/locations/b/jobs/c",
	} {
		if _, _, err := forward.CheckName("jobs", name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
