package livejob_test

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/livejob"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestEverythingHoldsOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestJob")
}

const (
	fullName = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"
	config   = `
data "idempotent_scheduled_job" "live" {
  name = "nightly-report"
}
`
)

func create(t *testing.T, cloud *localcloud.Cloud) {
	t.Helper()
	name := jobs.Name{Project: acctest.Project, Region: acctest.Region, Job: "nightly-report"}
	_, err := jobs.New(google.Settings{SchedulerEndpoint: cloud.URL()}).Create(context.Background(), name, &schedulerpb.Job{
		Name: fullName, Description: "Sends the report", Schedule: "0 3 * * *", TimeZone: "Europe/Berlin",
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://reports.example.com/?token=hidden"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func attribute(name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.idempotent_scheduled_job.live", tfjsonpath.New(name), want)
}

func TestJobIsReadAsItIsNow(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	create(t, cloud)
	at := time.Date(2026, 10, 16, 1, 0, 0, 0, time.UTC)
	attempt := func() {
		if err := cloud.EditJob(fullName, func(job *schedulerpb.Job) {
			job.LastAttemptTime = timestamppb.New(at)
			job.Status = &status.Status{Code: int32(codes.DeadlineExceeded), Message: "too slow"}
		}); err != nil {
			t.Error(err)
		}
	}
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: []resource.TestStep{
		{Config: acctest.Config(cloud, config), ConfigStateChecks: []statecheck.StateCheck{
			attribute("id", knownvalue.StringExact(fullName)),
			attribute("description", knownvalue.StringExact("Sends the report")),
			attribute("schedule", knownvalue.StringExact("0 3 * * *")),
			attribute("time_zone", knownvalue.StringExact("Europe/Berlin")),
			attribute("attempt_deadline", knownvalue.StringExact("180s")),
			attribute("state", knownvalue.StringExact("ENABLED")),
			attribute("next_time", knownvalue.StringRegexp(regexp.MustCompile(`T0[12]:00:00Z$`))),
			attribute("user_update_time", knownvalue.NotNull()),
			attribute("last_attempt_time", knownvalue.Null()),
			attribute("last_attempt_status", knownvalue.Null()),
		}},
		{PreConfig: attempt, Config: acctest.Config(cloud, config), ConfigStateChecks: []statecheck.StateCheck{
			attribute("last_attempt_time", knownvalue.StringExact("2026-10-16T01:00:00Z")),
			attribute("last_attempt_status", knownvalue.ObjectExact(map[string]knownvalue.Check{
				"code": knownvalue.StringExact("DEADLINE_EXCEEDED"), "message": knownvalue.StringExact("too slow"),
			})),
		}},
	}})
}

// read asks for the job over the plugin protocol.
func read(t *testing.T, protocol acctest.Protocol, config acctest.Object) []*tfprotov6.Diagnostic {
	t.Helper()
	validated, err := protocol.ValidateDataResourceConfig(context.Background(), &tfprotov6.ValidateDataResourceConfigRequest{
		TypeName: livejob.TypeName, Config: config.Value(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(validated.Diagnostics) > 0 {
		return validated.Diagnostics
	}
	resp, err := protocol.ReadDataSource(context.Background(), &tfprotov6.ReadDataSourceRequest{
		TypeName: livejob.TypeName, Config: config.Value(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}

func TestReadingIsExplainedInFull(t *testing.T) {
	t.Parallel()
	const missing = `
Unable to read job "nightly-report"
Job not found. (NotFound).

There is no job projects/acme-prod/locations/europe-west1/jobs/nightly-report. List those of the region: ` +
		"`gcloud scheduler jobs list --project acme-prod --location europe-west1`. If this configuration is to make it, give the data source a " +
		"depends_on: all of the job's names are known before it is there, so that Terraform sees no reason to wait."
	for title, tested := range map[string]struct {
		config  acctest.Object
		prepare func(*localcloud.Cloud)
		want    string
	}{
		"name": {acctest.Object{"name": "nightly report"}, nil, `AttributeName("name")
name of the job to read: "nightly report" cannot be one
It must match [A-Za-z0-9_-]{1,500}.`},
		"project": {acctest.Object{"name": "a", "project": "acme/prod"}, nil, `AttributeName("project")
project of the job to read: "acme/prod" cannot be one
It must match [A-Za-z0-9:.-]{1,300}.`},
		"region": {acctest.Object{"name": "a", "region": "Europe"}, nil, `AttributeName("region")
region of the job to read: "Europe" cannot be one
It must match [a-z0-9-]{1,63}.`},
		"missing": {acctest.Object{"name": "nightly-report"}, nil, missing},
		"not permitted": {
			acctest.Object{"name": "nightly-report"},
			func(cloud *localcloud.Cloud) { cloud.FailNext("GetJob", codes.PermissionDenied, "lacks permission", 1) },
			`
Unable to read job "nightly-report"
lacks permission (PermissionDenied).

Grant the caller roles/cloudscheduler.viewer on project acme-prod, and check that Cloud Scheduler is offered in region europe-west1 ` +
				"(`gcloud scheduler locations list`).",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			protocol, cloud := acctest.Start(t)
			if tested.prepare != nil {
				tested.prepare(cloud)
			}
			diagnostics := read(t, protocol, tested.config)
			if len(diagnostics) != 1 {
				t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
			}
			if diff := cmp.Diff(tested.want, acctest.Text(diagnostics[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlaceMustBeNamedSomewhere(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	if diagnostics := protocol.Configure(t, acctest.Object{"region": "europe-west1", "access_token": "unused"}); len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	diagnostics := read(t, protocol, acctest.Object{"name": "nightly-report"})
	const want = `AttributeName("project")
project of the job to read is not set
Neither the data source nor the provider block names a project. Set it in either of them.`
	if len(diagnostics) != 1 || acctest.Text(diagnostics[0]) != want {
		t.Errorf("got %v", diagnostics)
	}
}
