package scheduledjob_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

const (
	address  = "idempotent_scheduled_job.test"
	fullName = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"
	ttlField = "projects/acme-prod/databases/(default)/collectionGroups/scheduler_runs/fields/expire_at"
)

// job is a valid job with what a test adds to the resource, to http_target and to oidc_token. A field that it adds replaces the
// default one of the same name.
type job struct{ root, target, token string }

func (j job) String() string {
	root := withDefaults(j.root, "name", `"nightly-report"`, "schedule", `"0 3 * * *"`)
	target := withDefaults(j.target, "uri", `"https://reports-abc.a.run.app/run"`)
	token := withDefaults(j.token, "service_account_email", `"scheduler@acme-prod.iam.gserviceaccount.com"`)
	return fmt.Sprintf("resource \"idempotent_scheduled_job\" \"test\" {\n%s\n  http_target {\n%s\n    oidc_token {\n%s\n    }\n  }\n}\n",
		root, target, token)
}

func withDefaults(text string, defaults ...string) string {
	for pair := range slices.Chunk(defaults, 2) {
		if !strings.HasPrefix(text, pair[0]+" ") && !strings.Contains(text, "\n"+pair[0]+" ") {
			text += "\n" + pair[0] + " = " + pair[1]
		}
	}
	return text
}

// run plays the steps. After each one that applies, the framework itself demands that the next plan is empty.
func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// apply is a step that must plan the action.
func apply(cloud *localcloud.Cloud, j fmt.Stringer, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{
		Config:            acctest.Config(cloud, j.String()),
		ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}},
		ConfigStateChecks: checks,
	}
}

// unchanged is a step that must plan nothing at all.
func unchanged(cloud *localcloud.Cloud, j fmt.Stringer) resource.TestStep {
	return resource.TestStep{
		Config:           acctest.Config(cloud, j.String()),
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
	}
}

// before is the step with something done first.
func before(step resource.TestStep, do func()) resource.TestStep {
	step.PreConfig = do
	return step
}

// then is the step with a look at the cloud after it.
func then(step resource.TestStep, look func() error) resource.TestStep {
	step.Check = func(*terraform.State) error { return look() }
	return step
}

func state(attribute string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), value)
}

// edit changes a job behind Terraform's back.
func edit(t *testing.T, cloud *localcloud.Cloud, change func(*schedulerpb.Job)) func() {
	t.Helper()
	return func() {
		if err := cloud.EditJob(fullName, change); err != nil {
			t.Error(err)
		}
	}
}

// client speaks to the cloud's scheduler.
func client(cloud *localcloud.Cloud) *jobs.Client {
	return jobs.New(google.Settings{SchedulerEndpoint: cloud.URL()})
}

func name() jobs.Name {
	return jobs.Name{Project: acctest.Project, Region: acctest.Region, Job: "nightly-report"}
}

// calls lists the mutating calls that the cloud answered well since the n-th, as Method or Method(mask).
func calls(cloud *localcloud.Cloud, n int) []string {
	var made []string
	for _, request := range cloud.Requests()[n:] {
		switch {
		case strings.HasPrefix(request.Method, "Get") || request.Code != 0:
		case request.Mask != nil:
			made = append(made, request.Method+"("+strings.Join(request.Mask, ",")+")")
		default:
			made = append(made, request.Method)
		}
	}
	return made
}

func wantCalls(cloud *localcloud.Cloud, n *int, want ...string) func() error {
	return func() error {
		if got := calls(cloud, *n); !slices.Equal(got, want) {
			return fmt.Errorf("the cloud was asked for %v, not for %v", got, want)
		}
		return nil
	}
}

// gone demands that there is no job.
func gone(cloud *localcloud.Cloud) error {
	if _, err := cloud.Job(fullName); err == nil {
		return errors.New("the job is there")
	}
	return nil
}

func remove(t *testing.T, cloud *localcloud.Cloud) func() {
	t.Helper()
	return func() {
		if err := client(cloud).Delete(context.Background(), name()); err != nil {
			t.Error(err)
		}
	}
}
