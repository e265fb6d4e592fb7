package scheduledjob_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	names "github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// everything sets every optional attribute that one job can have at once, each to another value than its default.
func everything() job {
	return job{
		root: `description = "Sends the report"
schedule = "30 4 * * MON-FRI"
time_zone = "Asia/Tokyo"
attempt_deadline = "4m"
paused = true
deletion_policy = "ABANDON"
accepted_risks = {
  audience-origin = "the service lists it in custom_audiences"
}
retry_config {
  retry_count          = 4
  max_retry_duration   = "2h"
  min_backoff_duration = "100s"
  max_backoff_duration = "20m"
  max_doublings        = 4
}
deduplication {
  store           = "firestore://acme-prod/(default)/other_runs"
  manage_ttl      = false
  request_timeout = "4m"
  lease           = "5m"
  retention       = "96h"
  forced_runs     = "reject"
  run_scope       = "reports"
  max_attempts    = 3
  wait            = true
  previous {
    run_scope = "before"
    until     = "2099-01-01T00:00:00Z"
  }
}
handler {
  kind    = "function"
  module  = "example.com/reports"
  package = "reports"
}
timeouts {
  create = "1m"
  read   = "1m"
  update = "1m"
  delete = "1m"
}`,
		target: `uri = "https://reports-abc.a.run.app/other"
http_method = "PUT"
body_text = "hello there"
headers = {
  X-Team = "billing"
}
headers_wo = {
  X-Key = "hidden"
}
headers_wo_version = "1"`,
		token: `service_account_email = "other@acme-prod.iam.gserviceaccount.com"
audience = "https://reports.example.com"`,
	}
}

// The tests of single attributes say what each changes. This one says that all of them together can be set and removed in one apply,
// on each of the tools.
func TestJobTakesEveryAttributeAtOnceAndGivesThemUpAgain(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var plain map[string]string
	run(t,
		then(apply(cloud, job{}, plancheck.ResourceActionCreate), func() (err error) {
			plain, err = facts(cloud)
			return err
		}),
		then(apply(cloud, everything(), plancheck.ResourceActionUpdate), func() error {
			full, err := facts(cloud)
			if err != nil {
				return err
			}
			for key, value := range plain {
				if full[key] == value && key != names.HeaderProject && key != names.HeaderRegion {
					return fmt.Errorf("%s is still %q", key, value)
				}
			}
			return nil
		}),
		then(apply(cloud, job{}, plancheck.ResourceActionUpdate), func() error {
			again, err := facts(cloud)
			if err == nil && !maps.Equal(again, plain) {
				err = fmt.Errorf("the job is left with %v", again)
			}
			return err
		}),
		then(resource.TestStep{Config: acctest.Config(cloud, "")}, func() error { return gone(cloud) }),
	)
}
