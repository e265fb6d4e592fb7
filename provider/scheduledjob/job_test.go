package scheduledjob_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

const address = "idempotent_scheduled_job.test"

const nightly = `
resource "idempotent_scheduled_job" "test" {
  name      = "nightly-report"
  schedule  = "0 3 * * *"
  time_zone = "Europe/Berlin"
  http_target {
    uri = "https://reports-abc.a.run.app/run"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }
}
`

func TestJobIsCreatedWithEverythingKnownAtPlan(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	known := func(attribute string, value knownvalue.Check) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New(attribute), value)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: acctest.Config(cloud, nightly),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate),
					known("id", knownvalue.StringExact("projects/acme-prod/locations/europe-west1/jobs/nightly-report")),
					known("attempt_deadline", knownvalue.StringExact("180s")),
					known("paused", knownvalue.Bool(false)),
					known("retry_schedule", knownvalue.ListSizeExact(6)),
					known("handler_files", knownvalue.MapSizeExact(0)),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("state"), knownvalue.StringExact("ENABLED")),
				},
			},
			{
				Config: acctest.Config(cloud, nightly),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
}
