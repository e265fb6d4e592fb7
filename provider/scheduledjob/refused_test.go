package scheduledjob_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// message matches a text however the tool breaks its lines.
func message(parts ...string) *regexp.Regexp {
	for i, part := range parts {
		words := strings.Fields(part)
		for j, word := range words {
			words[j] = regexp.QuoteMeta(word)
		}
		parts[i] = strings.Join(words, `[\s│╷╵]+`)
	}
	return regexp.MustCompile(`(?s)` + strings.Join(parts, `.*`))
}

func TestJobExplainsWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	for title, refused := range map[string]struct {
		prepare func(*localcloud.Cloud)
		want    *regexp.Regexp
	}{
		"the name is taken": {
			func(cloud *localcloud.Cloud) {
				if _, err := client(cloud).Create(context.Background(), name(), &schedulerpb.Job{
					Name: fullName, Schedule: "0 4 * * *", TimeZone: "Etc/UTC",
					Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://elsewhere.example.com/"}},
				}); err != nil {
					t.Error(err)
				}
			},
			message(`Unable to create job "nightly-report"`, `import {`, `to = idempotent_scheduled_job.nightly-report`, `id = "`+fullName+`"`),
		},
		"not permitted": {
			func(cloud *localcloud.Cloud) {
				cloud.FailNext("CreateJob", codes.PermissionDenied, "lacks permission", 1)
			},
			message(`Unable to create job "nightly-report"`, `lacks permission (PermissionDenied)`, `roles/cloudscheduler.admin on project acme-prod`,
				`act as scheduler@acme-prod.iam.gserviceaccount.com`, `not offered in region europe-west1`),
		},
		"no such location": {
			func(cloud *localcloud.Cloud) { cloud.FailNext("CreateJob", codes.NotFound, "not found", 1) },
			message(`Unable to create job "nightly-report"`, `gcloud scheduler locations list`),
		},
		"the schedule does not please the server": {
			func(cloud *localcloud.Cloud) {
				cloud.FailNext("CreateJob", codes.InvalidArgument, "Schedule or time zone is invalid.", 1)
			},
			message(`Unable to create job "nightly-report"`, `schedule: Schedule or time zone is invalid.`),
		},
		"the expiry policy is not permitted": {
			func(cloud *localcloud.Cloud) {
				cloud.FailNext("UpdateField", codes.PermissionDenied, "lacks permission", 1)
			},
			message(`Unable to set expiry policy of collection "firestore://acme-prod/(default)/scheduler_runs"`, `roles/datastore.indexAdmin`,
				`deduplication.manage_ttl`),
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			cloud := acctest.Cloud(t)
			taken := title == "the name is taken"
			refused.prepare(cloud)
			run(t, resource.TestStep{Config: acctest.Config(cloud, job{}.String()), ExpectError: refused.want})
			if err := gone(cloud); (err != nil) != taken {
				t.Errorf("after the refusal: %v", err)
			}
		})
	}
}

func TestJobIsPatientWhileTheServerIsBusy(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	cloud.FailNext("CreateJob", codes.ResourceExhausted, "quota", 1)
	cloud.FailNext("CreateJob", codes.Aborted, "sync mutate calls cannot be queued", 1)
	cloud.FailNext("UpdateField", codes.Aborted, "underlying data changed", 1)
	cloud.FailNext("GetJob", codes.Unavailable, "try again", 1)
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate))
}

// A creation whose reply is lost has happened: whether it is tried again and finds the name taken by this very job, or given up.
func TestJobWhoseCreationReplyIsLostIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Internal} {
		protocol, cloud := acctest.Start(t)
		cloud.FailAfter("CreateJob", code, "the reply is lost", 1)
		if got := protocol.Attribute(t, create(t, protocol, refusal{}.config()), "state"); got != "ENABLED" {
			t.Errorf("%s: state %q", code, got)
		}
	}
}

func TestJobWhoseUpdateFailedIsUpdatedAgain(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var start int
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		then(before(apply(cloud, job{}, plancheck.ResourceActionUpdate), func() {
			edit(t, cloud, func(live *schedulerpb.Job) { live.State = schedulerpb.Job_UPDATE_FAILED })()
			start = len(cloud.Requests())
		}), wantCalls(cloud, &start, "UpdateJob(description,schedule,time_zone,attempt_deadline,retry_config,http_target)")))
}
