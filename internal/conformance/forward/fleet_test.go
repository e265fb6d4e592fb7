package forward_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	cloudbuild "cloud.google.com/go/cloudbuild/apiv1/v2"
	runapi "cloud.google.com/go/run/apiv2"
	executions "cloud.google.com/go/workflows/executions/apiv1"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	world "github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/cloudbuildforward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/runjobforward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/workflowsforward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

const place = "projects/acme/locations/europe-west1/"

// connect serves the world in memory and returns a target of each API, by the name of its kind.
func connect(t *testing.T, w *world.World) map[string]forward.Target {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	w.Register(server)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	conn, err := grpc.NewClient("passthrough:///world", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	check(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		serving.Wait()
	})
	with := option.WithGRPCConn(conn)
	flows, err := executions.NewClient(t.Context(), with)
	check(t, err)
	jobs, err := runapi.NewJobsClient(t.Context(), with)
	check(t, err)
	jobExecutions, err := runapi.NewExecutionsClient(t.Context(), with)
	check(t, err)
	builds, err := cloudbuild.NewClient(t.Context(), with)
	check(t, err)

	targets := map[string]forward.Target{}
	targets["workflows"], err = workflowsforward.New(flows).Workflow(workflowsforward.Workflow{Name: place + "workflows/report", Argument: `{"day": 1}`})
	check(t, err)
	targets["run_job"], err = runjobforward.New(jobs, jobExecutions).Job(runjobforward.Job{Name: place + "jobs/report", Args: []string{"--all"}})
	check(t, err)
	targets["cloud_build"], err = cloudbuildforward.New(builds).Trigger(cloudbuildforward.Trigger{Name: place + "triggers/report", Branch: "main"})
	check(t, err)
	return targets
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mortal is a target of a process that may die before a call, or when its reply is there.
type mortal struct {
	forward.Target

	process *claimtest.Process
	dies    func() bool
}

func (m mortal) Start(ctx context.Context, r run.Run) (string, error) {
	if m.dies() {
		m.process.Kill()
		return "", context.Canceled
	}
	name, err := m.Target.Start(ctx, r)
	if m.dies() {
		m.process.Kill()
		return "", context.Canceled
	}
	return name, err
}

// fleet delivers runs of one job to processes of a forwarder.
type fleet struct {
	t      *testing.T
	target forward.Target
	job    forward.Job
	store  *claimtest.Store
	policy run.Policy
	dies   func() bool // nil: never
}

// known verifies every caller.
type known struct{}

func (known) Check(*http.Request) (caller.Caller, error) { return caller.Caller{Verified: true}, nil }

// handler is one process.
func (f *fleet) handler() http.Handler {
	process := f.store.Process()
	job := f.job
	job.Logger = slog.New(slog.DiscardHandler)
	job.Target = f.target
	if f.dies != nil {
		job.Target = mortal{Target: f.target, process: process, dies: f.dies}
	}
	works, err := forward.Jobs(map[string]forward.Job{"report": job})
	check(f.t, err)
	handler, err := scheduled.NewHandler(scheduled.Config{
		Jobs: works, Store: process, Caller: known{}, Policy: f.policy, Logger: slog.New(slog.DiscardHandler),
	})
	check(f.t, err)
	return handler
}

// run delivers one run until it is answered for good, as Cloud Scheduler does, and returns the last answer. A process that died does
// not answer: its caller gives up at its deadline.
func (f *fleet) run(r run.Run) claim.Outcome {
	const tries = 40
	backoff := 5 * time.Second
	for range tries {
		outcome, code := f.deliver(r)
		if code == http.StatusOK || code == http.StatusUnprocessableEntity {
			return outcome
		}
		time.Sleep(backoff)
		backoff = min(2*backoff, time.Minute)
	}
	return ""
}

func (f *fleet) deliver(r run.Run) (claim.Outcome, int) {
	reply := httptest.NewRecorder()
	answered := make(chan struct{})
	handler := f.handler()
	go func() {
		defer close(answered)
		handler.ServeHTTP(reply, claimtest.Request(r))
		reply.Flush()
	}()
	<-answered
	if !reply.Flushed {
		return "", 0
	}
	return claim.Outcome(reply.Header().Get(run.HeaderOutcome)), reply.Code
}

func newRun(at time.Time) run.Run {
	identity := run.Identity{Project: "acme", Region: "europe-west1", Job: "report", ScheduleTime: at}
	name, err := identity.Name()
	if err != nil {
		panic(err) // a name of ours
	}
	return run.Run{Identity: identity, Name: name, ID: run.ID(name)}
}

// tokenOf is what the servers know a run by.
func tokenOf(kind string, r run.Run) string {
	if kind == "workflows" {
		return r.ID[:63]
	}
	return r.ID
}
