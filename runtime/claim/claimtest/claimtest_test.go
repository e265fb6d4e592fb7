package claimtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// counted is a work that counts its calls.
func counted(n *atomic.Int32) func(context.Context, run.Run) error {
	return func(context.Context, run.Run) error {
		n.Add(1)

		return nil
	}
}

func TestConcurrentDeliveriesRunTheWorkOnce(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32

	d := claimtest.Work(t, claimtest.Run("nightly-report"), counted(&calls))
	d.WantOnce(d.Concurrently(20)...)

	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}

func TestRepliesThatTheStoreLosesChangeNothing(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32

	d := claimtest.Work(t, claimtest.Run("nightly-report"), counted(&calls))
	if a := d.LoseReply(); a.Outcome != claim.OutcomeExecuted {
		t.Errorf("got %s, want executed", a)
	}

	d.WantOnce(d.Deliver())

	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}

func TestACrashLeavesTheLeaseAndThenAnotherAttempt(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32

	d := claimtest.Work(t, claimtest.Run("nightly-report"), counted(&calls))
	if a := d.Crash(); a.Outcome != "" || a.String() != "no answer" {
		t.Errorf("the dead process answered %s", a)
	}

	if a := d.Deliver(); a.Outcome != claim.OutcomeInProgress {
		t.Errorf("during the dead attempt's lease: %s, want in_progress", a)
	}

	d.EndLease()

	a := d.Deliver()
	if a.Outcome != claim.OutcomeExecuted || a.Attempt != 2 {
		t.Errorf("after the lease: %s, attempt %d; want executed, attempt 2", a, a.Attempt)
	}

	d.WantOnce(a)

	if calls.Load() != 2 {
		t.Errorf("%d calls, want one of each attempt", calls.Load())
	}
}

func TestAnEffectInTheStoreSurvivesACrashOnce(t *testing.T) {
	t.Parallel()

	var effects atomic.Int32

	d := claimtest.Work(t, claimtest.Run("nightly-report"), func(ctx context.Context, _ run.Run) error {
		return memclaim.CompleteTx(ctx, func(context.Context) error {
			effects.Add(1)

			return nil
		})
	})
	d.Crash()
	d.EndLease()
	d.WantOnce(d.Deliver())

	if effects.Load() != 1 {
		t.Errorf("%d effects, want 1", effects.Load())
	}
}

func TestTheWorkSeesItsRun(t *testing.T) {
	t.Parallel()

	want := claimtest.Run("nightly-report")
	d := claimtest.Work(t, want, func(ctx context.Context, r run.Run) error {
		seen, ok := run.FromContext(ctx)
		if !ok || seen != r || r.ID != want.ID || r.Attempt != 1 || !r.ScheduleTime.Before(time.Now()) {
			return fmt.Errorf("run %+v, in the context %+v", r, seen)
		}

		return nil
	})
	d.WantOnce(d.Deliver())
}

// complaints is a test that only notes what is wrong.
type complaints struct{ list []string }

func (*complaints) Helper() {}
func (c *complaints) Errorf(format string, a ...any) {
	c.list = append(c.list, fmt.Sprintf(format, a...))
}
func (c *complaints) Fatalf(format string, a ...any) { c.Errorf(format, a...) }

func TestWantOnceComplains(t *testing.T) {
	t.Parallel()

	c := &complaints{}
	d := claimtest.Work(c, claimtest.Run("nightly-report"), func(context.Context, run.Run) error { return errors.New("no") })
	d.WantOnce(d.Deliver(), claimtest.Answer{Outcome: claim.OutcomeExecuted}, claimtest.Answer{Outcome: claim.OutcomeExecuted})

	want := []string{
		"a delivery got released (no), want executed, duplicate or in_progress",
		"2 of 3 deliveries were executed, want one at most",
		"one more delivery got released (no), want duplicate: the run is not completed",
	}
	if strings.Join(c.list, "\n") != strings.Join(want, "\n") {
		t.Errorf("complaints:\n%s\nwant:\n%s", strings.Join(c.list, "\n"), strings.Join(want, "\n"))
	}
}

func TestAHandlerIsDeliveredToLikeAWork(t *testing.T) {
	t.Parallel()

	var calls, built atomic.Int32

	r := claimtest.Run("nightly-report")
	d := claimtest.Handler(t, func() *http.Request { return claimtest.Request(r) }, func(store claim.Store) http.Handler {
		built.Add(1)

		claimer := claim.New(store)

		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Header.Get(run.HeaderJobName) != r.Job {
				t.Errorf("headers %v", req.Header)
			}

			p := claim.Proposal{ID: r.ID, Run: r.Name, Lease: 210 * time.Second, Retention: 24 * time.Hour}
			res := claimer.Do(req.Context(), p, func(context.Context) error {
				calls.Add(1)

				return nil
			})
			w.Header().Set(run.HeaderOutcome, string(res.Outcome))

			if res.Outcome == claim.OutcomeInProgress {
				w.WriteHeader(http.StatusConflict)
			}
		})
	})

	d.Crash()

	if a := d.Deliver(); a.String() != "409 in_progress" {
		t.Errorf("during the lease: %s", a)
	}

	d.EndLease()

	if a := d.Deliver(); a.String() != "200 executed" {
		t.Errorf("after the lease: %s", a)
	}

	d.WantOnce(d.Concurrently(5)...)

	if calls.Load() != 2 || built.Load() != 2 {
		t.Errorf("%d calls in %d processes, want 2 in 2", calls.Load(), built.Load())
	}
}
