package scheduledjob_test

import (
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestJobIsNotChangedByAnotherSpelling(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t,
		apply(cloud, job{
			root:   "attempt_deadline = \"180s\"\ntime_zone = \"UTC\"\nretry_config {\n  min_backoff_duration = \"1m\"\n}",
			target: "uri = \"https://reports-abc.a.run.app\"\nbody = \"aGVsbG8gd29ybGQ=\"",
		}, plancheck.ResourceActionCreate, state("time_zone", knownvalue.StringExact("UTC"))),
		unchanged(cloud, job{
			root:   "attempt_deadline = \"3m\"\ntime_zone = \"utc\"\nretry_config {\n  min_backoff_duration = \"60s\"\n}",
			target: "uri = \"https://reports-abc.a.run.app/\"\nbody = \"aGVsbG8g\\nd29ybGQ=\"",
		}),
		unchanged(cloud, job{
			root:   "attempt_deadline = \"0h3m0s\"\ntime_zone = \"Etc/UTC\"\nretry_config {\n  min_backoff_duration = \"0.5m30s\"\n}",
			target: "uri = \"HTTPS://Reports-abc.A.run.app/\"\nbody = \"aGVsbG8gd29ybGQ=\"",
		}),
		unchanged(cloud, job{
			root:   "retry_config {\n  min_backoff_duration = \"60s\"\n}",
			target: "uri = \"https://reports-abc.a.run.app/\"\nbody = \"aGVsbG8gd29ybGQ=\"",
		}),
	)
}

func TestJobIsNotChangedByWhatTheServerAdds(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	j := job{target: "body_text = \"hello\"\nheaders = {\n  \"x-team\" = \"billing\"\n}"}
	run(t, apply(cloud, j, plancheck.ResourceActionCreate),
		before(unchanged(cloud, j), edit(t, cloud, func(live *schedulerpb.Job) {
			headers := live.GetHttpTarget().GetHeaders()
			headers["User-Agent"], headers["Authorization"] = "Google-Cloud-Scheduler", "Bearer …"
			headers["Content-Type"], headers["X-Team"] = "application/octet-stream", headers["x-team"]
			delete(headers, "x-team")
			live.TimeZone = "UTC"
		})))
}

func TestJobKeepsARetryBlockOfZeros(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	zeros := job{root: "retry_config {\n  retry_count = 0\n  max_retry_duration = \"0s\"\n  max_doublings = 0\n}"}
	run(t, apply(cloud, zeros, plancheck.ResourceActionCreate), unchanged(cloud, zeros))
}

// The audience follows from the URI: while that is unknown so is the audience, and not null.
func TestJobWaitsForWhatIsUnknown(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	j := unknownInputs{job{target: "uri = \"${terraform_data.later.output}/run\""}}
	run(t, apply(cloud, j, plancheck.ResourceActionCreate), unchanged(cloud, j))
}

func TestJobTakesBlocksThatAreUnknown(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	j := unknownInputs{job{root: `dynamic "retry_config" {
    for_each = terraform_data.later.output == "" ? [] : [1]
    content {
      retry_count = 3
    }
  }
  dynamic "deduplication" {
    for_each = terraform_data.later.output == "" ? [] : ["120s"]
    content {
      request_timeout = deduplication.value
    }
  }`}}
	run(t, apply(cloud, j, plancheck.ResourceActionCreate), unchanged(cloud, j))
}

// unknownInputs adds a value that is known only after apply.
type unknownInputs struct{ job }

func (u unknownInputs) String() string {
	return "resource \"terraform_data\" \"later\" {\n  input = \"https://reports-abc.a.run.app\"\n}\n" + u.job.String()
}
