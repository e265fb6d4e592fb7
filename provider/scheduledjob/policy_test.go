package scheduledjob_test

import (
	"fmt"
	"testing"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestJobMendsAnExpiryPolicyThatIsGone(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var start int
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		then(before(apply(cloud, job{}, plancheck.ResourceActionUpdate), func() {
			if err := cloud.EditField(ttlField, func(f *adminpb.Field) { f.TtlConfig = nil }); err != nil {
				t.Error(err)
			}
			start = len(cloud.Requests())
		}), wantCalls(cloud, &start, "UpdateField(ttl_config)")))
}

// Such a policy covers all new records; that is a warning and no change.
func TestJobIsContentWithAPolicyThatNeedsRepair(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		before(unchanged(cloud, job{}), func() {
			if err := cloud.EditField(ttlField, func(f *adminpb.Field) { f.TtlConfig.State = adminpb.Field_TtlConfig_NEEDS_REPAIR }); err != nil {
				t.Error(err)
			}
		}))
}

func TestJobIsPlannedAndChangedByAnIdentityThatMayNotTouchThePolicy(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	forbid := func() {
		cloud.FailNext("GetField", codes.PermissionDenied, "lacks permission", 100)
		cloud.FailNext("UpdateField", codes.PermissionDenied, "lacks permission", 100)
	}
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		before(unchanged(cloud, job{}), forbid),
		apply(cloud, job{root: `description = "new"`}, plancheck.ResourceActionUpdate))
}

func TestJobLeavesAPolicyThatItDoesNotManage(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	start := 0
	run(t, then(apply(cloud, job{root: "deduplication {\n  manage_ttl = false\n}"}, plancheck.ResourceActionCreate),
		wantCalls(cloud, &start, "CreateJob")))
}

func TestJobsOfOneCollectionSetItsPolicyOnce(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	many := `
resource "idempotent_scheduled_job" "many" {
  count    = 8
  name     = "report-${count.index}"
  schedule = "0 3 * * *"
  http_target {
    uri = "https://reports-abc.a.run.app/run"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }
}
`
	run(t, then(resource.TestStep{Config: acctest.Config(cloud, many)}, func() error {
		set := 0
		for _, request := range cloud.Requests() {
			if request.Method == "UpdateField" {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("the policy was set %d times", set)
		}
		return nil
	}))
}
