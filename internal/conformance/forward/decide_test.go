package forward_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/workflows/executions/apiv1/executionspb"

	world "github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Where no look-up can decide, because attempts are too short for it, on_unknown does: hold sends nothing again and leaves the run to
// an operator, rerun gets it done, at the risk of a second execution.
func TestWhatCannotBeDecidedIsHeldOrRunAgain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		onUnknown forward.OnUnknown
		outcome   claim.Outcome
		started   int
	}{
		"by default": {"", claim.OutcomeUnknown, 0},
		"hold":       {forward.Hold, claim.OutcomeUnknown, 0},
		"rerun":      {forward.Rerun, claim.OutcomeExecuted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world.NewWorld(1)
				first := true
				w.Choose = func(*rand.Rand) world.Fault {
					defer func() { first = false }()
					if first {
						return world.Dropped
					}
					return world.None
				}
				f := &fleet{
					t: t, target: connect(t, w)["workflows"], store: claimtest.NewStore(), job: forward.Job{OnUnknown: want.onUnknown},
					policy: run.Policy{Deadline: 20 * time.Second},
				}
				r := newRun(time.Now())
				if got := f.run(r); got != want.outcome {
					t.Errorf("outcome %s, want %s", got, want.outcome)
				}
				w.Wait()
				if got := len(w.Of(tokenOf("workflows", r))); got != want.started {
					t.Errorf("started %d, want %d", got, want.started)
				}
			})
		})
	}
}

// A look-up by a server that does not know the filter compares what there is.
func TestExecutionsAreFoundWithoutAFilterToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world.NewWorld(1)
		w.NoFilter = true
		w.Choose = func(*rand.Rand) world.Fault { return world.LostReply }
		f := &fleet{t: t, target: connect(t, w)["workflows"], store: claimtest.NewStore()}
		r := newRun(time.Now())
		if got := f.run(r); got != claim.OutcomeExecuted || len(w.Of(tokenOf("workflows", r))) != 1 {
			t.Errorf("outcome %s, started %v", got, w.Of(tokenOf("workflows", r)))
		}
	})
}

// Whatever a delivery carries, its job alone says what is started, and with which argument.
func TestNothingThatACallerSendsChoosesTheTarget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world.NewWorld(1)
		f := &fleet{t: t, target: connect(t, w)["workflows"], store: claimtest.NewStore()}
		handler := f.handler()
		at := time.Now()
		other := "projects/evil/locations/us-east1/workflows/evil"
		for i, change := range []func(*http.Request){
			func(r *http.Request) { r.URL.Path = "/v1/" + other + "/executions" },
			func(r *http.Request) { r.URL.RawQuery = "workflow=" + other + "&target=" + other },
			func(r *http.Request) { r.Header.Set("X-Goog-Request-Params", "parent="+other) },
			func(r *http.Request) { r.Header.Set("X-Idempotent-Target", other) },
			func(r *http.Request) { r.Host = "evil.example" },
			func(r *http.Request) {
				body := `{"parent": "` + other + `", "execution": {"argument": "{\"day\": 2, \"run\": {\"id\": \"x\"}}"}}`
				*r = *httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).WithContext(r.Context())
			},
		} {
			r := newRun(at.Add(time.Duration(i) * time.Second))
			request := claimtest.Request(r)
			headers := request.Header
			change(request)
			maps.Copy(request.Header, headers)
			request.RemoteAddr = "127.0.0.1:1024"
			handler.ServeHTTP(httptest.NewRecorder(), request.WithContext(context.Background()))
			started := w.Of(tokenOf("workflows", r))
			for _, s := range started {
				argument := s.Body.(*executionspb.Execution).GetArgument()
				if s.Parent != place+"workflows/report" || !strings.Contains(argument, `"day":1`) || !strings.Contains(argument, r.ID) {
					t.Errorf("delivery %d started %s with %s", i, s.Parent, argument)
				}
			}
			if len(started) != 1 {
				t.Errorf("delivery %d started %d", i, len(started))
			}
		}
	})
}

// A job that the forwarder does not have starts nothing.
func TestAnotherJobStartsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world.NewWorld(1)
		f := &fleet{t: t, target: connect(t, w)["cloud_build"], store: claimtest.NewStore()}
		r := newRun(time.Now())
		r.Job = "other"
		reply := httptest.NewRecorder()
		f.handler().ServeHTTP(reply, claimtest.Request(r))
		if calls, _ := w.Calls(); reply.Code != http.StatusNotFound || len(calls) != 0 {
			t.Errorf("status %d, calls %v", reply.Code, calls)
		}
	})
}
