package scheduled_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// lines are those that were logged, each as its fields.
func (f *fixture) lines(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for text := range strings.Lines(f.log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

// TestADeliveryIsLoggedWithWhatBecameOfIt: at the level that alerts go by, with what it takes to find the run.
func TestADeliveryIsLoggedWithWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	down := func(context.Context, memclaim.Verb, string) error { return errors.New("connection refused") }
	for name, tt := range map[string]struct {
		before  func(f *fixture, id string)
		work    func(ctx context.Context, f *fixture, id string) error
		level   string
		outcome claim.Outcome
		status  int
		attempt int
		err     string
	}{
		"executed": {level: "INFO", outcome: claim.OutcomeExecuted, status: 200, attempt: 1},
		"executed, then an error": {
			work: func(ctx context.Context, _ *fixture, _ string) error {
				return errors.Join(memclaim.CompleteTx(ctx, func(context.Context) error { return nil }), errWork)
			},
			level: "ERROR", outcome: claim.OutcomeExecuted, status: 200, attempt: 1, err: "disk full",
		},
		"duplicate": {
			before: func(f *fixture, id string) {
				f.store.Put(id, claim.Record{Status: claim.StatusCompleted, AttemptID: "other"})
			},
			level: "INFO", outcome: claim.OutcomeDuplicate, status: 200,
		},
		"in progress": {
			before: func(f *fixture, id string) {
				f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Lease: time.Hour})
			},
			level: "INFO", outcome: claim.OutcomeInProgress, status: 409,
		},
		"lost": {
			work: func(_ context.Context, f *fixture, id string) error {
				f.store.Put(id, claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Lease: time.Hour})
				return nil
			},
			level: "WARN", outcome: claim.OutcomeLost, status: 409, attempt: 1, err: "claim lost: attempt ",
		},
		"released": {
			work:  func(context.Context, *fixture, string) error { return errWork },
			level: "ERROR", outcome: claim.OutcomeReleased, status: 500, attempt: 1, err: "disk full",
		},
		"failed": {
			work:  func(context.Context, *fixture, string) error { return claim.Permanent(errWork) },
			level: "ERROR", outcome: claim.OutcomeFailed, status: 422, attempt: 1, err: "disk full",
		},
		"unknown": {
			work:  func(context.Context, *fixture, string) error { return claim.Unknown(errWork) },
			level: "ERROR", outcome: claim.OutcomeUnknown, status: 422, attempt: 1, err: "disk full",
		},
		"unrecorded": {
			work:  func(_ context.Context, f *fixture, _ string) error { f.store.Before(down); return nil },
			level: "ERROR", outcome: claim.OutcomeUnrecorded, status: 500, attempt: 1, err: "outcome of a write is unknown: ",
		},
		"unavailable": {
			before: func(f *fixture, _ string) { f.store.Before(down) },
			level:  "ERROR", outcome: claim.OutcomeUnavailable, status: 500, err: "connection refused",
		},
		"shutting down": {
			before: func(f *fixture, _ string) { _ = f.handler.Shutdown(context.Background()) },
			level:  "WARN", outcome: claim.OutcomeUnavailable, status: 500, err: "shutting down",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, nil)
				at := due()
				runName, id := nameOf(t, at, false)
				if tt.before != nil {
					tt.before(f, id)
				}
				if tt.work != nil {
					f.works(func(ctx context.Context) error { return tt.work(ctx, f, id) })
				}
				f.send(t, deliver(at))
				all := f.lines(t)
				got := all[len(all)-1]
				text, _ := got["error"].(string)
				if got["level"] != tt.level || got["job"] != job || got["run"] != runName || got["run_id"] != id || got["status"] != float64(tt.status) ||
					got["outcome"] != string(tt.outcome) || got["attempt"] != float64(tt.attempt) || !strings.Contains(text, tt.err) || (text == "") != (tt.err == "") {
					t.Errorf("logged: %s", f.log)
				}
				f.store.Before(nil)
				if err := f.handler.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestTheClaimersLinesGoToTheLoggerOfTheHandler, which are about what no reply tells.
func TestTheClaimersLinesGoToTheLoggerOfTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		f.works(func(context.Context) error {
			f.store.Before(func(context.Context, memclaim.Verb, string) error { return errWork })
			return nil
		})
		f.want(t, deliver(due()), 500, claim.OutcomeUnrecorded)
		if line := f.lines(t)[0]; line["msg"] != "work done but not recorded" || line["level"] != "ERROR" {
			t.Errorf("logged: %s", f.log)
		}
	})
}

func TestAPanicIsLoggedWithItsStack(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{"guarded": due(), "unguarded": {}} {
		f := newFixture(t, unguarded)
		f.works(func(context.Context) error { panic("boom") })
		f.want(t, deliver(at), 500, claim.OutcomeReleased)
		line := f.lines(t)[0]
		stack, _ := line["stack"].(string)
		text, _ := line["error"].(string)
		if line["level"] != "ERROR" || !strings.Contains(text, "work panicked: boom") || !strings.Contains(stack, "log_test.go") {
			t.Errorf("%s: logged: %s", name, f.log)
		}
	}
}

func TestARefusalIsLoggedWithWhoSentIt(t *testing.T) {
	t.Parallel()
	refuse := func(status int) func(*scheduled.Config) {
		return func(c *scheduled.Config) {
			c.Caller = checkerFunc(func(*http.Request) (caller.Caller, error) {
				return caller.Caller{}, &caller.Error{Status: status, Reason: "why", Remedy: "do", Err: errWork}
			})
		}
	}
	for name, tt := range map[string]struct {
		change func(*scheduled.Config)
		header func(http.Header)
		want   map[string]any
		asks   string // for which kind of credentials
	}{
		"no token": {refuse(401), func(http.Header) {}, map[string]any{
			"level": "WARN", "msg": "delivery refused: why", "status": 401.0, "reason": "why", "mend": "do", "error": errWork.Error(), "job": nil, "caller": nil,
		}, "Bearer"},
		"nobody could tell": {refuse(500), func(http.Header) {}, map[string]any{"level": "ERROR", "status": 500.0, "error": errWork.Error()}, ""},
		"another's project": {nil, func(h http.Header) { h.Set(run.HeaderProject, "evil") }, map[string]any{
			"level": "WARN", "status": 403.0, "job": job, "caller": account, "error": nil, "mend": "let the job call as a service account of its own project",
		}, ""},
	} {
		f := newFixture(t, tt.change)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, deliver(due(), tt.header))
		line := f.lines(t)[0]
		for field, want := range tt.want {
			if line[field] != want {
				t.Errorf("%s: %s is %v, want %v: %s", name, field, line[field], want, f.log)
			}
		}
		if asks := w.Header().Get("WWW-Authenticate"); asks != tt.asks || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: the reply has %v", name, w.Header())
		}
	}
}
