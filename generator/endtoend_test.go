package generator_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	forwarding "github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	account = "scheduler@acme-prod.iam.gserviceaccount.com"
	jobName = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"
)

// Each kind that serves jobs is built and runs behind a local cloud, which loses the reply of one run and duplicates another: each of them is executed
// once, and a forwarder starts one execution for each.
func TestEachKindRunsEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip(longReason)
	}
	t.Parallel()
	for _, kind := range generator.Kinds() {
		if !generator.Schedules(kind) {
			continue // Others call those: they run end to end in internal/conformance/received.
		}
		t.Run(kind, func(t *testing.T) {
			spec := generator.Spec{
				Name: "nightly-report", Kind: kind, Jobs: []string{"nightly-report"}, Store: "sqlite", Project: "acme-prod",
				Region: "europe-west1", Forward: forwardOf(kind, "nightly-report"),
			}
			dir := newModule(t, spec)
			goTool(t, dir, "build", "-o", "handler", entry(spec))
			world := forwarding.NewWorld(1)
			address := freeAddress(t)
			cloud := startCloud(t, localcloud.Config{AppEngine: appEngine(t, address)})
			stop := startProgram(t, dir, address, environment(kind, dir, address, cloud, serveWorld(t, world)))
			createJob(t, cloud, kind, "http://"+address+"/")

			lost, doubled := time.Now().UTC().Truncate(time.Second).Add(-time.Minute), time.Now().UTC().Truncate(time.Second)
			fire(t, cloud, localcloud.Fault{Job: jobName, Kind: localcloud.LostReply, Times: 1}, lost, 2)
			fire(t, cloud, localcloud.Fault{Job: jobName, Kind: localcloud.Duplicate, Times: 1, Count: 3}, doubled, 3)
			for _, at := range []time.Time{lost, doubled} {
				outcomes := outcomesOf(cloud, at)
				if executed := len(outcomes) - len(slices.DeleteFunc(slices.Clone(outcomes), func(o string) bool { return o == "executed" })); executed != 1 {
					t.Errorf("run of %v was answered %v, want one executed", at, outcomes)
				}
				if want := len(spec.Forward); want > 0 && len(startedBy(world, at)) != want {
					t.Errorf("run of %v started %v, want one", at, startedBy(world, at))
				}
			}
			if got := outcomesOf(cloud, lost); !slices.Equal(got, []string{"executed", "duplicate"}) {
				t.Errorf("the run whose reply was lost was answered %v", got)
			}
			stop(kind)
		})
	}
}

func startCloud(t *testing.T, cfg localcloud.Config) *localcloud.Cloud {
	t.Helper()
	cloud, err := localcloud.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	return cloud
}

// appEngine is App Engine before a service: it takes its own headers off what comes from outside, and adds them for Cloud Scheduler.
func appEngine(t *testing.T, service string) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: service})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Appengine-") {
				r.Header.Del(name)
			}
		}
		if strings.HasPrefix(r.UserAgent(), "AppEngine-Google") {
			r.Header.Set("X-Appengine-Queuename", "__scheduler")
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// serveWorld serves what forwarders start.
func serveWorld(t *testing.T, world *forwarding.World) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	world.Register(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func environment(kind, dir, address string, cloud *localcloud.Cloud, world string) []string {
	_, port, _ := net.SplitHostPort(address)
	env := []string{"PORT=" + port, run.EnvStore + "=sqlite:" + filepath.Join(dir, "claims.db")}
	if kind == "appengine" {
		return append(env, run.EnvCaller+"=app_engine", "GAE_ENV=standard", "GAE_SERVICE=nightly-report", "GOOGLE_CLOUD_PROJECT=acme-prod")
	}
	return append(env, run.EnvCaller+"=verify", run.EnvAudiences+"=http://"+address+"/", run.EnvCallers+"="+account,
		run.EnvIssuer+"="+cloud.Issuer(), run.EnvJWKS+"="+cloud.JWKSURL(), forward.EnvEndpoint+"="+world, "FUNCTION_TARGET=Handle")
}

// startProgram starts a handler and returns what ends it as the platform does.
func startProgram(t *testing.T, dir, address string, env []string) (stop func(kind string)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "handler"))
	cmd.Env = env
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	waitHealthy(t, "http://"+address+"/healthz", ended, &log)
	return func(kind string) {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		// The framework of functions has no end of its own: there the signal ends the process after all.
		err := <-ended
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if bySignal := kind == "function" && status.Signaled() && status.Signal() == syscall.SIGTERM; err != nil && !bySignal {
			t.Errorf("after SIGTERM: %v\n%s", err, log.String())
		}
		if !strings.Contains(log.String(), `"severity":"INFO"`) {
			t.Error("the log has no severity that Cloud Logging reads")
		}
		if t.Failed() {
			t.Log(log.String())
		}
	}
}

func createJob(t *testing.T, cloud *localcloud.Cloud, kind, uri string) {
	t.Helper()
	client, err := scheduler.NewCloudSchedulerClient(t.Context(), option.WithEndpoint(cloud.Addr()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	headers := map[string]string{run.HeaderProject: "acme-prod", run.HeaderRegion: "europe-west1"}
	job := &schedulerpb.Job{
		Name: jobName, Schedule: "0 3 1 1 *", TimeZone: "Etc/UTC",
		RetryConfig: &schedulerpb.RetryConfig{RetryCount: 5, MinBackoffDuration: durationpb.New(time.Second)},
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
			Uri: uri, HttpMethod: schedulerpb.HttpMethod_POST, Headers: headers,
			AuthorizationHeader: &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{ServiceAccountEmail: account, Audience: uri}},
		}},
	}
	if kind == "appengine" {
		job.Target = &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{
			RelativeUri: "/", HttpMethod: schedulerpb.HttpMethod_POST, Headers: headers,
		}}
	}
	if _, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: strings.Split(jobName, "/jobs/")[0], Job: job}); err != nil {
		t.Fatal(err)
	}
}

// fire delivers a run under a fault, and waits until as many deliveries of it are answered.
func fire(t *testing.T, cloud *localcloud.Cloud, fault localcloud.Fault, at time.Time, answered int) {
	t.Helper()
	if err := cloud.Inject(fault); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Fire(t.Context(), jobName, at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := cloud.Wait(ctx, func([]localcloud.Delivery) bool { return len(outcomesOf(cloud, at)) >= answered })
	if err != nil {
		t.Fatalf("run of %v: %v; deliveries: %+v", at, err, cloud.Deliveries(jobName))
	}
}

// outcomesOf are the answers to the deliveries of a run that have ended.
func outcomesOf(cloud *localcloud.Cloud, at time.Time) []string {
	var outcomes []string
	for _, d := range cloud.Deliveries(jobName) {
		if d.ScheduleTime.Equal(at) && !d.Ended.IsZero() {
			outcomes = append(outcomes, d.Outcome)
		}
	}
	return outcomes
}

// startedBy is what the run of that time started, whatever part of its id the server knows it by.
func startedBy(world *forwarding.World, at time.Time) []forwarding.Started {
	identity := run.Identity{Project: "acme-prod", Region: "europe-west1", Job: "nightly-report", ScheduleTime: at}
	name, err := identity.Name()
	if err != nil {
		panic(err) // a name of ours
	}
	id := run.ID(name)
	return append(world.Of(id), world.Of(id[:63])...)
}
