package scheduledjob_test

import (
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func paused() job { return job{root: "paused = true\nschedule = \"* * * * *\""} }

func TestJobCreatedPausedHasNoMomentToFire(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	start := 0
	run(t, then(apply(cloud, paused(), plancheck.ResourceActionCreate, state("state", knownvalue.StringExact("PAUSED"))),
		wantCalls(cloud, &start, "UpdateField(ttl_config)", "CreateJob", "PauseJob", "UpdateJob(schedule,time_zone)")))
	for _, request := range cloud.Requests() {
		create, ok := request.Message.(*schedulerpb.CreateJobRequest)
		if !ok {
			continue
		}
		schedule, err := unixcron.Parse(create.GetJob().GetSchedule())
		if err != nil {
			t.Fatal(err)
		}
		if next := schedule.Next(request.Time, time.UTC); next.Sub(request.Time) < 300*24*time.Hour {
			t.Errorf("until it was paused the job would have fired at %s", next)
		}
	}
}

func TestJobResumesWhenThePauseItWasGivenIsRemoved(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, paused(), plancheck.ResourceActionCreate),
		apply(cloud, job{root: `schedule = "* * * * *"`}, plancheck.ResourceActionUpdate,
			state("paused", knownvalue.Bool(false)), state("state", knownvalue.StringExact("ENABLED"))))
}

func TestJobPausedByHandIsLeftAlone(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	byHand := func(state schedulerpb.Job_State) func() {
		return edit(t, cloud, func(live *schedulerpb.Job) { live.State = state })
	}
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		before(unchanged(cloud, job{}), byHand(schedulerpb.Job_PAUSED)),
		apply(cloud, job{root: `description = "new"`}, plancheck.ResourceActionUpdate, state("paused", knownvalue.Bool(true))),
		apply(cloud, job{root: `paused = false`}, plancheck.ResourceActionUpdate, state("paused", knownvalue.Bool(false))),
		before(apply(cloud, job{root: `paused = false`}, plancheck.ResourceActionUpdate, state("paused", knownvalue.Bool(false))),
			byHand(schedulerpb.Job_PAUSED)))
}

func TestJobIsPausedBeforeAndResumedAfterItsChange(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var start int
	mark := func() { start = len(cloud.Requests()) }
	run(t, apply(cloud, job{}, plancheck.ResourceActionCreate),
		then(before(apply(cloud, paused(), plancheck.ResourceActionUpdate), mark),
			wantCalls(cloud, &start, "PauseJob", "UpdateJob(schedule,time_zone,http_target)")),
		then(before(apply(cloud, job{root: `paused = false`}, plancheck.ResourceActionUpdate), mark),
			wantCalls(cloud, &start, "UpdateJob(schedule,time_zone,http_target)", "ResumeJob")))
}

func TestJobThatCannotBePausedIsRemovedAgain(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	cloud.FailNext("PauseJob", codes.Internal, "something broke", 1)
	run(t, resource.TestStep{
		Config: acctest.Config(cloud, paused().String()), ExpectError: message(`Unable to pause job "nightly-report"`),
	})
	if err := gone(cloud); err != nil {
		t.Error(err)
	}
}

// An error would taint the job, and the next plan would replace it.
func TestJobThatIsHalfMadeIsKeptAndMended(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	cloud.FailNext("PauseJob", codes.Internal, "something broke", 1)
	cloud.FailNext("DeleteJob", codes.Internal, "something broke", 1)
	half := resource.TestStep{Config: acctest.Config(cloud, paused().String()), ExpectNonEmptyPlan: true}
	run(t, half,
		then(apply(cloud, paused(), plancheck.ResourceActionUpdate, state("state", knownvalue.StringExact("PAUSED"))),
			func() error { return wantSchedule(cloud, "* * * * *") }))
}

func wantSchedule(cloud *localcloud.Cloud, want string) error {
	live, err := cloud.Job(fullName)
	if err != nil {
		return err
	}
	if live.GetSchedule() != want {
		return fmt.Errorf("the job's schedule is %s, not %s", live.GetSchedule(), want)
	}
	return nil
}
