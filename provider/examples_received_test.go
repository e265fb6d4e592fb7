package provider_test

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// The services that others call, with the job that drains the inbox of one of them.
func TestExamplesOfServicesAreApplied(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]config.Variables{
		"webhook": {
			"service_uri":           config.StringVariable("https://billing-abc123-ew.a.run.app"),
			"service_account_email": config.StringVariable("scheduler@acme-prod.iam.gserviceaccount.com"),
		},
		"api": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := acctest.Cloud(t)
			variables := config.Variables{
				"project":                         config.StringVariable(acctest.Project),
				"region":                          config.StringVariable(acctest.Region),
				"cloud_scheduler_custom_endpoint": config.StringVariable(cloud.URL() + "/v1/"),
				"firestore_custom_endpoint":       config.StringVariable(cloud.URL() + "/v1/"),
			}
			maps.Copy(variables, more)
			step := resource.TestStep{
				ProtoV6ProviderFactories: acctest.Factories(), ConfigDirectory: config.StaticDirectory("../examples/" + name), ConfigVariables: variables,
			}
			again := step
			again.ConfigPlanChecks = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
			resource.UnitTest(t, resource.TestCase{Steps: []resource.TestStep{step, again}})
		})
	}
}
