// Package workflows_test runs the example from end to end: the local cloud fires the job, the forwarder starts the workflow, and the
// workflow calls the function.
package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"cloud.google.com/go/workflows/executions/apiv1/executionspb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/examples/workflows/report"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/workflowsforward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

const (
	parent   = "projects/acme-prod/locations/europe-west1"
	job      = parent + "/jobs/nightly-report"
	workflow = parent + "/workflows/report"
	account  = "scheduler@acme-prod.iam.gserviceaccount.com"
)

// reports counts what the function did, by key.
type reports struct {
	mu   sync.Mutex
	made map[string]int
}

func (r *reports) make(_ context.Context, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[key]++
	return nil
}

func (r *reports) of(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made[key]
}

// The reply of the delivery is lost, and so is that of the call which starts the workflow: one execution, one report. The same
// execution once more is refused by the function.
func TestARunHasOneReportWhateverIsLost(t *testing.T) {
	t.Parallel()
	made := &reports{made: map[string]int{}}
	function := httptest.NewServer(report.Handler(memclaim.New(), made.make))
	t.Cleanup(function.Close)
	workflows := newStandIn(t)
	workflows.lose = 1
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	check(t, err)
	t.Cleanup(func() { check(t, cloud.Close()) })
	forwarder := httptest.NewServer(nil)
	t.Cleanup(forwarder.Close)
	forwarder.Config.Handler = newForwarder(t, cloud, forwarder.URL+"/", serve(t, workflows), fmt.Sprintf(`{"url": %q}`, function.URL))

	createJob(t, cloud, forwarder.URL+"/")
	check(t, cloud.Inject(localcloud.Fault{Job: job, Kind: localcloud.LostReply, Times: 1}))
	at := time.Now().UTC().Truncate(time.Second)
	check(t, cloud.Fire(t.Context(), job, at))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check(t, cloud.Wait(ctx, func(all []localcloud.Delivery) bool { return len(ended(all)) >= 2 }))
	if got := ended(cloud.Deliveries(job)); !slices.Equal(got, []string{"executed", "duplicate"}) {
		t.Errorf("deliveries were answered %v", got)
	}

	workflows.running.Wait()
	id := runID(t, at)
	if len(workflows.started) != 1 || !slices.Equal(workflows.replies, []int{http.StatusCreated}) || made.of(id) != 1 {
		t.Fatalf("%d executions, answers %v, %d reports", len(workflows.started), workflows.replies, made.of(id))
	}
	workflows.execute(workflows.started[0])
	if !slices.Equal(workflows.replies, []int{http.StatusCreated, http.StatusConflict}) || made.of(id) != 1 {
		t.Errorf("run again, the function answered %v and made %d reports", workflows.replies, made.of(id))
	}
}

// What forwarder.yaml describes can be generated, and starts the workflow of this example for its job.
func TestTheForwarderIsGenerated(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "forwarder")
	generate := cli.New("")
	generate.SetArgs([]string{"generate", "--spec", "forwarder.yaml", "--out", dir})
	check(t, generate.Execute())
	targets, err := os.ReadFile(filepath.Join(dir, "targets_gen.go"))
	check(t, err)
	for _, want := range []string{fmt.Sprintf("%q", workflow), `"nightly-report"`, "forward.Hold"} {
		if !strings.Contains(string(targets), want) {
			t.Errorf("targets_gen.go does not hold %s", want)
		}
	}
}

// newForwarder is the forwarder of forwarder.yaml by hand, with an argument of this test.
func newForwarder(t *testing.T, cloud *localcloud.Cloud, audience, endpoint, argument string) http.Handler {
	t.Helper()
	client, err := workflowsforward.Open(t.Context(), endpoint)
	check(t, err)
	t.Cleanup(func() { check(t, client.Close()) })
	target, err := client.Workflow(workflowsforward.Workflow{Name: workflow, Argument: argument})
	check(t, err)
	quiet := slog.New(slog.DiscardHandler)
	works, err := forward.Jobs(map[string]forward.Job{"nightly-report": {Target: target, Logger: quiet}})
	check(t, err)
	checker, err := caller.Verify(caller.VerifyConfig{
		Audiences: []string{audience}, Callers: []string{account}, Issuer: cloud.Issuer(), JWKSURL: cloud.JWKSURL(),
	})
	check(t, err)
	handler, err := scheduled.NewHandler(scheduled.Config{Jobs: works, Store: memclaim.New(), Caller: checker, Logger: quiet})
	check(t, err)
	return handler
}

func serve(t *testing.T, workflows *standIn) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	server := grpc.NewServer()
	executionspb.RegisterExecutionsServer(server, workflows)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		check(t, <-done)
	})
	return "http://" + listener.Addr().String()
}

func createJob(t *testing.T, cloud *localcloud.Cloud, uri string) {
	t.Helper()
	client, err := scheduler.NewCloudSchedulerClient(t.Context(), option.WithEndpoint(cloud.Addr()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	check(t, err)
	defer func() { _ = client.Close() }()
	_, err = client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: &schedulerpb.Job{
		Name: job, Schedule: "0 3 * * *", TimeZone: "Etc/UTC",
		RetryConfig: &schedulerpb.RetryConfig{RetryCount: 5, MinBackoffDuration: durationpb.New(time.Second)},
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
			Uri: uri, HttpMethod: schedulerpb.HttpMethod_POST,
			Headers:             map[string]string{run.HeaderProject: "acme-prod", run.HeaderRegion: "europe-west1"},
			AuthorizationHeader: &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{ServiceAccountEmail: account}},
		}},
	}})
	check(t, err)
}

// ended are the answers to the deliveries that have ended.
func ended(all []localcloud.Delivery) []string {
	var outcomes []string
	for _, d := range all {
		if !d.Ended.IsZero() {
			outcomes = append(outcomes, d.Outcome)
		}
	}
	return outcomes
}

func runID(t *testing.T, at time.Time) string {
	t.Helper()
	name, err := run.Identity{Project: "acme-prod", Region: "europe-west1", Job: "nightly-report", ScheduleTime: at}.Name()
	check(t, err)
	return run.ID(name)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
