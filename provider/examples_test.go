package provider_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestExamplesHoldOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestExample[^s]")
}

// The demo applies it; the test framework cannot hold the state of for_each.
func TestExampleQuickstartIsPlanned(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	resource.UnitTest(t, resource.TestCase{
		Steps: []resource.TestStep{{
			ProtoV6ProviderFactories: acctest.Factories(),
			ConfigDirectory:          config.StaticDirectory("../examples/quickstart"),
			ConfigVariables: config.Variables{
				"project":                         config.StringVariable(acctest.Project),
				"region":                          config.StringVariable(acctest.Region),
				"service_account_email":           config.StringVariable("scheduler@acme-prod.iam.gserviceaccount.com"),
				"target_uri":                      config.StringVariable("http://127.0.0.1:8080/"),
				"store":                           config.StringVariable("sqlite:" + filepath.Join(t.TempDir(), "claims.db")),
				"output_dir":                      config.StringVariable(filepath.Join(t.TempDir(), "handler")),
				"cloud_scheduler_custom_endpoint": config.StringVariable(cloud.URL() + "/v1/"),
				"firestore_custom_endpoint":       config.StringVariable(cloud.URL() + "/v1/"),
			},
			PlanOnly: true, ExpectNonEmptyPlan: true,
		}},
	})
}

func TestExampleWorkflowsIsApplied(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	variables := config.Variables{
		"project":                         config.StringVariable(acctest.Project),
		"region":                          config.StringVariable(acctest.Region),
		"forwarder_uri":                   config.StringVariable("https://forwarder-abc123-ew.a.run.app/"),
		"service_account_email":           config.StringVariable("scheduler@acme-prod.iam.gserviceaccount.com"),
		"cloud_scheduler_custom_endpoint": config.StringVariable(cloud.URL() + "/v1/"),
		"firestore_custom_endpoint":       config.StringVariable(cloud.URL() + "/v1/"),
	}
	step := resource.TestStep{
		ProtoV6ProviderFactories: acctest.Factories(), ConfigDirectory: config.StaticDirectory("../examples/workflows"), ConfigVariables: variables,
	}
	again := step
	again.ConfigPlanChecks = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	resource.UnitTest(t, resource.TestCase{Steps: []resource.TestStep{step, again}})
}

// A configuration that nobody plans is one that may not work.
func TestEveryExampleIsPlannedBySomeTest(t *testing.T) {
	t.Parallel()
	planned := []string{
		"quickstart/", "workflows/", "webhook/", "api/", // the tests above, and those of services
		"modules/",                                               // applied with a stand-in for hashicorp/google
		"provider/", "resources/", "data-sources/", "functions/", // the test below
	}
	err := filepath.WalkDir("../examples", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tf" {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../examples/")
		if !slices.ContainsFunc(planned, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("no test plans examples/%s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestExampleOfEachObjectIsPlanned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/*/*/*.tf")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples found: %v", err)
	}
	for _, file := range files {
		if strings.HasPrefix(file, "../examples/modules/") {
			continue // Modules need hashicorp/google; they are applied with a stand-in for it.
		}
		if strings.HasPrefix(filepath.Base(file), "import") {
			continue // An import block needs a job that is there; the resource's own tests import one.
		}
		t.Run(strings.TrimPrefix(file, "../examples/"), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cloud := acctest.Cloud(t)
			makeReport(t, cloud) // The data source reads one.
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps: []resource.TestStep{
					{Config: acctest.Config(cloud, string(content)), PlanOnly: true, ExpectNonEmptyPlan: true},
				},
			})
		})
	}
}

// makeReport makes the job nightly-report.
func makeReport(t *testing.T, cloud *localcloud.Cloud) {
	t.Helper()
	name := jobs.Name{Project: acctest.Project, Region: acctest.Region, Job: "nightly-report"}
	if _, err := jobs.New(google.Settings{SchedulerEndpoint: cloud.URL()}).Create(t.Context(), name, &schedulerpb.Job{
		Name: name.String(), Schedule: "0 3 * * *", TimeZone: "Etc/UTC",
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://reports.example.com/"}},
	}); err != nil {
		t.Fatal(err)
	}
}
