package handler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestHandlerIsKnownAtPlanAndAsksNothingOfTheCloud(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t,
		apply(cloud, reports(), plancheck.ResourceActionCreate,
			planned(text("reports"), "id"), planned(text("http"), "kind"), planned(text("cloud_run_iam"), "caller"),
			planned(text("idempotent/acme-prod/reports"), "audience"),
			planned(text("firestore://acme-prod/(default)/scheduler_runs"), "store"),
			planned(knownvalue.MapExact(map[string]knownvalue.Check{
				"IDEMPOTENT_CALLER": text("cloud_run_iam"), "IDEMPOTENT_PROJECT": text("acme-prod"),
				"IDEMPOTENT_STORE":     text("firestore://acme-prod/(default)/scheduler_runs"),
				"IDEMPOTENT_AUDIENCES": text("idempotent/acme-prod/reports"),
			}), "env"),
			planned(text(`{"v":1,"handler":"reports","kind":"http","store":"firestore://acme-prod/(default)/scheduler_runs",`+
				`"audience":"idempotent/acme-prod/reports"}`), "contract"),
			planned(knownvalue.MapSizeExact(0), "required_roles"),
			planned(knownvalue.NotNull(), "files", "handler_gen.go"),
		),
		// Each step sets one attribute and leaves out the one before.
		apply(cloud, reports(`jobs = ["nightly-report", "weekly-report"]`), plancheck.ResourceActionUpdate,
			planned(knownvalue.NotNull(), "files", "weekly_report_job.go")),
		apply(cloud, reports(`module = "example.com/acme/reports"`), plancheck.ResourceActionUpdate,
			planned(knownvalue.StringRegexp(message("module example.com/acme/reports")), "files", "go.mod")),
		apply(cloud, reports(`package = "reports"`), plancheck.ResourceActionUpdate,
			planned(knownvalue.NotNull(), "files", "cmd/reports/main.go")),
		apply(cloud, reports(`project = "acme-data"`), plancheck.ResourceActionUpdate,
			planned(text("acme-data"), "env", "IDEMPOTENT_PROJECT")),
		apply(cloud, reports(`region = "europe-west3"`), plancheck.ResourceActionUpdate,
			planned(text("europe-west3"), "env", "IDEMPOTENT_REGION")),
		apply(cloud, reports(`request_timeout = "300s"`), plancheck.ResourceActionUpdate,
			planned(text("300s"), "env", "IDEMPOTENT_REQUEST_TIMEOUT")),
		resource.TestStep{
			Config:           acctest.Config(cloud, reports(`request_timeout = "5m"`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		apply(cloud, reports(`audience = "https://reports.example.com"`), plancheck.ResourceActionUpdate,
			planned(text("https://reports.example.com"), "env", "IDEMPOTENT_AUDIENCES")),
		apply(cloud, reports(`callers = ["a@acme-prod.iam.gserviceaccount.com", "b@acme-prod.iam.gserviceaccount.com"]`),
			plancheck.ResourceActionUpdate,
			planned(text("a@acme-prod.iam.gserviceaccount.com,b@acme-prod.iam.gserviceaccount.com"), "env", "IDEMPOTENT_CALLERS")),
		apply(cloud, reports(`caller = "verify"`), plancheck.ResourceActionUpdate, planned(text("verify"), "env", "IDEMPOTENT_CALLER")),
		apply(cloud, reports("previous {\n  until = \"2027-01-31T00:00:00Z\"\n  run_id_format = \"sample\"\n"+
			"  store = \"firestore://acme-prod/(default)/runs\"\n}"), plancheck.ResourceActionUpdate,
			planned(text("until=2027-01-31T00:00:00Z;format=sample"), "env", "IDEMPOTENT_PREVIOUS"),
			planned(text("firestore://acme-prod/(default)/runs"), "env", "IDEMPOTENT_PREVIOUS_STORE")),
		apply(cloud, reports(), plancheck.ResourceActionUpdate, planned(knownvalue.MapSizeExact(4), "env")),
	)
	if made := cloud.Requests(); len(made) > 0 {
		t.Errorf("the cloud was asked %d times: %v", len(made), made[0])
	}
}

func TestHandlerNamesTheRolesThatItNeeds(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	grant := func(role, member, resourceType string, resource, condition knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"role": text(role), "member": text("serviceAccount:" + member), "resource_type": text(resourceType), "resource": resource,
			"condition": condition,
		})
	}
	const account, first, second = "reports@acme-prod.iam.gserviceaccount.com", "a@acme-prod.iam.gserviceaccount.com", "b@acme-prod.iam.gserviceaccount.com"
	runs, callers := `service_account_email = "`+account+`"`, `callers = ["`+first+`", "`+second+`", "*@acme-prod.iam.gserviceaccount.com"]`
	invoke := func(member string) knownvalue.Check {
		return grant("roles/run.invoker", member, "cloud_run_service", knownvalue.Null(), knownvalue.Null())
	}
	run(t,
		apply(cloud, reports(runs, callers), plancheck.ResourceActionCreate, planned(knownvalue.MapExact(map[string]knownvalue.Check{
			"store": grant("roles/datastore.user", account, "project", text("projects/acme-prod"),
				text(`resource.name == "projects/acme-prod/databases/(default)"`)),
			"invoke": invoke(first), "invoke_2": invoke(second),
		}), "required_roles")),
		apply(cloud, reports(runs, `store = "spanner://projects/acme-prod/instances/claims/databases/runs?table=claims"`),
			plancheck.ResourceActionUpdate, planned(knownvalue.MapExact(map[string]knownvalue.Check{
				"store": grant("roles/spanner.databaseUser", account, "spanner_database",
					text("projects/acme-prod/instances/claims/databases/runs"), knownvalue.Null()),
			}), "required_roles")),
		apply(cloud, reports(runs, `store = "redis://10.0.0.3:6379/0"`), plancheck.ResourceActionUpdate,
			planned(knownvalue.MapSizeExact(0), "required_roles")),
		apply(cloud, reports(callers, `caller = "verify"`), plancheck.ResourceActionUpdate,
			planned(knownvalue.MapSizeExact(0), "required_roles")),
	)
}

// The accounts are not known before apply; the keys are all the same.
func TestHandlerRolesCanBeIteratedBeforeAccountsAreKnown(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	const accounts = `
resource "terraform_data" "account" {
  for_each = toset(["reports", "scheduler"])
  input    = "${each.key}@acme-prod.iam.gserviceaccount.com"
}

resource "terraform_data" "grant" {
  for_each = idempotent_handler.test.required_roles
  input    = each.value.member
}

output "members" {
  value = { for key, grant in terraform_data.grant : key => grant.output }
}
`
	config := accounts + reports(`service_account_email = terraform_data.account["reports"].output`,
		`callers = [terraform_data.account["scheduler"].output]`)
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: []resource.TestStep{{
		Config: acctest.Config(cloud, config),
		ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("required_roles").AtMapKey("store").AtMapKey("member")),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("required_roles").AtMapKey("invoke").AtMapKey("member")),
			planned(text("roles/run.invoker"), "required_roles", "invoke", "role"),
			planned(text("roles/datastore.user"), "required_roles", "store", "role"),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("env").AtMapKey("IDEMPOTENT_CALLERS")),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("contract")),
		}},
		PlanOnly: true, ExpectNonEmptyPlan: true,
	}}})
}

func TestHandlerIsWrittenAtApplyAndNeverRead(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	folder := filepath.Join(t.TempDir(), "handler")
	own, ours := filepath.Join(folder, "job.go"), filepath.Join(folder, "handler_gen.go")
	write := func(path, content string) func() {
		return func() {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	out := `output_dir = "` + folder + `"`
	edited := apply(cloud, reports(out, `region = "europe-west1"`), plancheck.ResourceActionUpdate)
	edited.PreConfig = write(own, "package main // people's own")
	run(t, apply(cloud, reports(out), plancheck.ResourceActionCreate), edited,
		resource.TestStep{
			PreConfig: write(ours, "package main // edited"), Config: acctest.Config(cloud, reports(out, `region = "europe-west3"`)),
			ExpectError: message(`Unable to write handler "reports"`, `handler_gen.go`),
		})
	if content, err := os.ReadFile(own); err != nil || string(content) != "package main // people's own" {
		t.Errorf("job.go was overwritten: %s, %v", content, err)
	}
}

// What a forwarder starts is fixed in its files; the roles are on exactly that.
func TestHandlerForwardsToWhatItsJobsName(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	const account, workflow = "forwarder@acme-prod.iam.gserviceaccount.com", "projects/acme-prod/locations/europe-west1/workflows/report"
	forward := func(more string) string {
		return reports(`kind = "forward_workflows"`, `service_account_email = "`+account+`"`,
			"forward = {\n  nightly-report = {\n    target = \""+workflow+"\"\n"+more+"\n  }\n}")
	}
	role := func(name string) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{
			"role": text(name), "resource_type": text("workflow"), "resource": text(workflow), "member": text("serviceAccount:" + account),
		})
	}
	run(t,
		resource.TestStep{
			Config:      acctest.Config(cloud, forward(`tasks = 2`)),
			ExpectError: message(`forward.nightly-report.tasks`, `a workflow takes none: it takes argument`),
		},
		apply(cloud, forward(""), plancheck.ResourceActionCreate,
			planned(knownvalue.StringRegexp(message(workflow)), "files", "targets_gen.go"),
			planned(role("roles/workflows.invoker"), "required_roles", "start:nightly-report"),
			planned(role("roles/workflows.viewer"), "required_roles", "look_up:nightly-report"),
			planned(knownvalue.StringRegexp(message(`"jobs":["nightly-report"]`)), "contract")),
		apply(cloud, forward(`argument = jsonencode({ month = "last" })`), plancheck.ResourceActionUpdate,
			planned(knownvalue.StringRegexp(message(`month`)), "files", "targets_gen.go")),
		apply(cloud, forward(`on_unknown = "rerun"`), plancheck.ResourceActionUpdate,
			planned(knownvalue.StringRegexp(message(`forward.Rerun`)), "files", "targets_gen.go")),
	)
}

func TestHandlersThatOthersCallArePlanned(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	const secret, events = `secrets = ["BILLING_SECRET"]`, `events = ["invoice.paid"]`
	run(t,
		apply(cloud, reports(`kind = "webhook"`, `webhook = {`, secret, events, `retry_horizon = "120h"`, `}`), plancheck.ResourceActionCreate,
			planned(text("verify"), "caller"), planned(text("firestore://acme-prod/(default)/webhook_inbox"), "store"),
			planned(knownvalue.NotNull(), "files", "invoice_paid_event.go"),
			planned(knownvalue.StringRegexp(message("RetryHorizon: 120 * time.Hour")), "files", "handler_gen.go")),
		resource.TestStep{
			Config:           acctest.Config(cloud, reports(`kind = "webhook"`, `webhook = {`, secret, events, `retry_horizon = "432000s"`, `}`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		apply(cloud, reports(`kind = "api"`, `callers = ["a@acme-prod.iam.gserviceaccount.com"]`,
			`api = { tenant_header = "X-Workspace", key_required = false, codes = { reused = "E01005" }, statuses = { reused = 422 } }`),
			plancheck.ResourceActionUpdate, planned(knownvalue.Null(), "caller"), planned(knownvalue.Null(), "contract"),
			planned(text("roles/run.invoker"), "required_roles", "invoke", "role"),
			planned(knownvalue.StringRegexp(message(`idempotencykey.CodeReused: {Status: 422, Code: "E01005"}`)), "files", "handler_gen.go")),
		apply(cloud, reports(), plancheck.ResourceActionUpdate, planned(text("cloud_run_iam"), "caller"), planned(knownvalue.NotNull(), "contract")),
	)
}
