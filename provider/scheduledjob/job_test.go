package scheduledjob_test

import (
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestJobIsCreatedWithEverythingKnownAtPlan(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	known := func(at tfjsonpath.Path, value knownvalue.Check) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, at, value)
	}
	text := knownvalue.StringExact
	step := apply(cloud, job{}, plancheck.ResourceActionCreate,
		state("state", text("ENABLED")), state("attempt_deadline", text("180s")))
	step.ConfigPlanChecks.PreApply = append(step.ConfigPlanChecks.PreApply,
		known(tfjsonpath.New("id"), text(fullName)),
		known(tfjsonpath.New("project"), text("acme-prod")),
		known(tfjsonpath.New("region"), text("europe-west1")),
		known(tfjsonpath.New("attempt_deadline"), text("180s")),
		known(tfjsonpath.New("paused"), knownvalue.Bool(false)),
		known(tfjsonpath.New("http_target").AtSliceIndex(0).AtMapKey("oidc_token").AtSliceIndex(0).AtMapKey("audience"),
			text("https://reports-abc.a.run.app")),
		known(tfjsonpath.New("effective_retry_config"), knownvalue.ObjectExact(map[string]knownvalue.Check{
			"retry_count": knownvalue.Int64Exact(5), "max_doublings": knownvalue.Int64Exact(5),
			"min_backoff_duration": text("15s"), "max_backoff_duration": text("3600s"), "max_retry_duration": text("0s"),
		})),
		known(tfjsonpath.New("effective_deduplication"), knownvalue.ObjectExact(map[string]knownvalue.Check{
			"mode": text("enforce"), "store": text("firestore://acme-prod/(default)/scheduler_runs"), "manage_ttl": knownvalue.Bool(true),
			"ttl_policy": text("ensured"), "request_timeout": text("180s"), "lease": text("210s"), "renew_lease": knownvalue.Bool(false),
			"retention": text("86400s"), "forced_runs": text("separate"), "run_scope": text(""), "run_id_format": text("v1"),
			"max_attempts": knownvalue.Int64Exact(0), "at_most_once": knownvalue.Bool(false), "wait": knownvalue.Bool(false),
		})),
		known(tfjsonpath.New("retry_schedule"), knownvalue.ListSizeExact(6)),
		known(tfjsonpath.New("injected_headers").AtMapKey("X-Idempotent-Project"), text("acme-prod")),
		known(tfjsonpath.New("injected_headers").AtMapKey("X-Idempotent-Region"), text("europe-west1")),
		known(tfjsonpath.New("injected_headers").AtMapKey("X-Idempotent-Policy"), knownvalue.NotNull()),
		known(tfjsonpath.New("handler_files"), knownvalue.MapSizeExact(0)),
		plancheck.ExpectUnknownValue(address, tfjsonpath.New("state")),
	)
	start := 0
	run(t, then(step, wantCalls(cloud, &start, "UpdateField(ttl_config)", "CreateJob")), unchanged(cloud, job{}))
	if err := gone(cloud); err != nil {
		t.Errorf("after destroy: %v", err)
	}
	field, err := cloud.Field(t.Context(), ttlField)
	if err != nil || field.GetTtlConfig() == nil {
		t.Errorf("destroy took the expiry policy away: %v, %v", field, err)
	}
}

func TestJobThatIsGoneIsPlannedAnew(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		before(apply(cloud, job{}, plancheck.ResourceActionCreate), remove(t, cloud)))
}

func TestJobOfAnotherNameOrPlaceIsAnotherJob(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		apply(cloud, job{root: `name = "weekly-report"`}, plancheck.ResourceActionDestroyBeforeCreate),
		apply(cloud, job{root: `region = "us-central1"`}, plancheck.ResourceActionDestroyBeforeCreate,
			state("id", knownvalue.StringExact("projects/acme-prod/locations/us-central1/jobs/nightly-report"))),
		apply(cloud, job{}, plancheck.ResourceActionDestroyBeforeCreate))
}

func TestJobIsImportedByEachForm(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	steps := []resource.TestStep{apply(cloud, job{root: `description = "Sends the report"`}, plancheck.ResourceActionCreate)}
	for _, id := range []string{fullName, "acme-prod/europe-west1/nightly-report", "europe-west1/nightly-report", "nightly-report"} {
		steps = append(steps, resource.TestStep{ResourceName: address, ImportState: true, ImportStateId: id, ImportStateVerify: true})
	}
	run(t, steps...)
}

func TestJobDeletionPolicy(t *testing.T) {
	t.Parallel()
	t.Run("PREVENT refuses the plan", func(t *testing.T) {
		t.Parallel()
		cloud := acctest.Cloud(t)
		prevented := job{root: `deletion_policy = "PREVENT"`}
		run(t, apply(cloud, prevented, plancheck.ResourceActionCreate),
			resource.TestStep{
				Config: acctest.Config(cloud, prevented.String()), Destroy: true,
				ExpectError: message(`deletion_policy of job "nightly-report" prevents its destruction`),
			},
			apply(cloud, job{}, plancheck.ResourceActionUpdate))
	})
	t.Run("ABANDON leaves the job", func(t *testing.T) {
		t.Parallel()
		cloud := acctest.Cloud(t)
		run(t, apply(cloud, job{root: `deletion_policy = "ABANDON"`}, plancheck.ResourceActionCreate))
		if gone(cloud) == nil {
			t.Error(errors.New("the abandoned job was deleted"))
		}
	})
}
