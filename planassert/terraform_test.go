package planassert_test

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/planassert"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// config is a job in front of a local cloud; what the blocks say comes in.
const config = `
terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

provider "idempotent" {
  project                         = "acme-prod"
  region                          = "europe-west1"
  cloud_scheduler_custom_endpoint = "%[1]s/v1/"
  firestore_custom_endpoint       = "%[1]s/v1/"
}

resource "terraform_data" "path" {
  input = "run"
}

resource "idempotent_scheduled_job" "nightly" {
  name     = "nightly"
  schedule = "0 3 * * *"
  paused   = %[3]t

  http_target {
    uri = "https://reports-abc.a.run.app/%[4]s"

    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }

  retry_config {
    %[2]s
  }
}
`

const address = "idempotent_scheduled_job.nightly"

func step(cloud *localcloud.Cloud, retry string, paused bool, path string, checks ...plancheck.PlanCheck) resource.TestStep {
	return resource.TestStep{
		Config:           fmt.Sprintf(config, cloud.URL(), retry, paused, path),
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: checks},
	}
}

func run(t *testing.T, steps func(*localcloud.Cloud) []resource.TestStep) {
	t.Helper()
	engines.Terraform(t)
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close the local cloud: %v", err)
		}
	})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"idempotent": providerserver.NewProtocol6WithError(provider.New("dev")()),
		},
		Steps: steps(cloud),
	})
}

func TestPlansOfTerraformAreJudged(t *testing.T) {
	t.Parallel()
	run(t, func(cloud *localcloud.Cloud) []resource.TestStep {
		return []resource.TestStep{
			step(cloud, "retry_count = 5", true, "run", planassert.NoFindings(),
				planassert.ExpectNoFinding(address, "no-retry"), planassert.ExpectNoFinding(address, "google-api-target")),
			step(cloud, "retry_count = 0", false, "run", planassert.NoFindings(planassert.ErrorsOnly()),
				planassert.NoFindings(planassert.Allow("no-retry", "paused-resumed")),
				planassert.ExpectFinding(address, "no-retry"), planassert.ExpectFinding(address, "paused-resumed"),
				planassert.Findings(func(found []planassert.Finding) error {
					if len(found) != 2 || found[0].Level != "warning" || found[0].Path != "retry_config.0.retry_count" {
						return fmt.Errorf("findings are %v", found)
					}
					return nil
				})),
		}
	})
}

func TestValuesKnownOnlyAfterApplyNeitherPassNorFail(t *testing.T) {
	t.Parallel()
	run(t, func(cloud *localcloud.Cloud) []resource.TestStep {
		return []resource.TestStep{
			step(cloud, "retry_count = 5", false, "${terraform_data.path.output}", planassert.NoFindings()),
		}
	})
}

func TestCheckThatFailsFailsTheStep(t *testing.T) {
	t.Parallel()
	failing := map[string]plancheck.PlanCheck{
		`rule no-authentication finds nothing at idempotent_scheduled_job.nightly; found`: planassert.ExpectFinding(address, "no-authentication"),
		`the plan has 1 findings:`:    planassert.NoFindings(),
		`there is no rule "no-retri"`: planassert.NoFindings(planassert.Allow("no-retri")),
		`there is no rule "no-such"`:  planassert.ExpectFinding(address, "no-such"),
		`the plan has a finding:`:     planassert.ExpectNoFinding(address, "no-retry"),
		`judged by the test`:          planassert.Findings(func([]planassert.Finding) error { return errors.New("judged by the test") }),
	}
	run(t, func(cloud *localcloud.Cloud) []resource.TestStep {
		var steps []resource.TestStep
		for want, check := range failing {
			s := step(cloud, "retry_count = 0", false, "run", check)
			s.PlanOnly, s.ExpectError = false, regexp.MustCompile(regexp.QuoteMeta(want))
			steps = append(steps, s)
		}
		return steps
	})
}
