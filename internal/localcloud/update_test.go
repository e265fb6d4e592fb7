package localcloud_test

import (
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestUpdateReplacesAllOrWhatTheMaskNames(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := manual(t)
		client := schedulerClient(t, cloud, rest)

		full := httpJob("http://127.0.0.1:1/old")
		full.Description = "reports"
		full.GetHttpTarget().Headers = map[string]string{"X-Team": "billing"}
		full.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 3, MinBackoffDuration: durationpb.New(9 * time.Second)}
		oidcAs("s@acme-prod.iam.gserviceaccount.com")(full)
		create(t, cloud, full)

		update := func(job *schedulerpb.Job, paths ...string) *schedulerpb.Job {
			t.Helper()

			req := &schedulerpb.UpdateJobRequest{Job: job}
			if paths != nil {
				req.UpdateMask = &fieldmaskpb.FieldMask{Paths: paths}
			}

			got, err := client.UpdateJob(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}

			return got
		}

		other := httpJob("http://127.0.0.1:1/new")
		other.TimeZone, other.Schedule = "Europe/Berlin", "0 3 * * *"
		got := update(other, "schedule", "http_target.uri", "retry_config.retry_count")

		if got.GetTimeZone() != "Etc/UTC" || got.GetSchedule() != "0 3 * * *" || got.GetDescription() != "reports" ||
			got.GetRetryConfig().GetRetryCount() != 0 || got.GetRetryConfig().GetMinBackoffDuration().AsDuration() != 9*time.Second ||
			got.GetHttpTarget().GetHeaders()["X-Team"] != "billing" {
			t.Errorf("masked update: %v", got)
		}

		// An audience that was filled in follows the URI.
		if token := got.GetHttpTarget().GetOidcToken(); token.GetAudience() != "http://127.0.0.1:1/new" {
			t.Errorf("audience: %v", token)
		}

		if _, told := got.GetHttpTarget().GetHeaders()["Authorization"]; !told {
			t.Errorf("the Authorization header is not echoed: %v", got.GetHttpTarget().GetHeaders())
		}

		// Clearing all fields of the token removes it.
		got = update(other, "http_target.oidc_token.service_account_email", "http_target.oidc_token.audience",
			"http_target.oauth_token.service_account_email", "http_target.oauth_token.scope")
		if got.GetHttpTarget().GetAuthorizationHeader() != nil {
			t.Errorf("the token is still there: %v", got.GetHttpTarget())
		}

		// Without a mask the whole job is replaced.
		got = update(other)
		if got.GetDescription() != "" || got.GetTimeZone() != "Europe/Berlin" ||
			got.GetRetryConfig().GetMinBackoffDuration().AsDuration() != 5*time.Second ||
			!cmp.Equal(got.GetHttpTarget().GetHeaders(), map[string]string{
				"User-Agent": "Google-Cloud-Scheduler", "Content-Type": "application/octet-stream",
			}) {
			t.Errorf("update without a mask: %v", got)
		}

		_, err := client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{
			Job: &schedulerpb.Job{Name: nightly, Schedule: "* * * *"}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"schedule"}},
		})
		refused(t, "bad schedule", err, codes.InvalidArgument, "Schedule or time zone is invalid.")

		_, err = client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{
			Job: other, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"http_target.colour"}},
		})

		want := `Update mask path "http_target.colour" is invalid: there is no field colour.`
		refused(t, "bad path", err, codes.InvalidArgument, want)
	})
}

func TestPauseNeedsAnEnabledJobAndResumeDoesNotMind(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := manual(t)
		client := schedulerClient(t, cloud, rest)
		create(t, cloud, httpJob("http://127.0.0.1:1/"))

		resume := func() {
			t.Helper()

			got, err := client.ResumeJob(t.Context(), &schedulerpb.ResumeJobRequest{Name: nightly})
			if err != nil || got.GetState() != schedulerpb.Job_ENABLED {
				t.Errorf("resume: %v, %v", got, err)
			}
		}

		resume()

		got, err := client.PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: nightly})
		if err != nil || got.GetState() != schedulerpb.Job_PAUSED {
			t.Errorf("pause: %v, %v", got, err)
		}

		_, err = client.PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: nightly})
		refused(t, "pause again", err, codes.FailedPrecondition, "Job state must be ENABLED for PauseJob, but it is PAUSED.")

		// The state is none of an update's business.
		job := httpJob("http://127.0.0.1:1/")
		job.State = schedulerpb.Job_ENABLED

		updated, err := client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: job})
		if err != nil || updated.GetState() != schedulerpb.Job_PAUSED {
			t.Errorf("update of a paused job: %v, %v", updated, err)
		}

		resume()
	})
}

func TestConcurrentChangesOfOneJobAreRefused(t *testing.T) {
	t.Parallel()

	cloud := start(t, localcloud.Config{MutationTime: 300 * time.Millisecond})
	client := schedulerClient(t, cloud, false)
	create(t, cloud, httpJob("http://127.0.0.1:1/"))

	results := make(chan error, 2)

	for range 2 {
		go func() {
			_, err := client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: httpJob("http://127.0.0.1:1/")})
			results <- err
		}()
	}

	first, second := <-results, <-results
	if first == nil {
		first, second = second, first
	}

	refused(t, "the other update", first, codes.Aborted, "sync mutate calls cannot be queued")

	if second != nil {
		t.Errorf("both updates failed: %v", second)
	}
}

func TestFailedUpdatesLeaveTheJobToBeUpdatedAgain(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	client := schedulerClient(t, cloud, false)
	create(t, cloud, httpJob(tg.url))

	if err := cloud.Inject(localcloud.Fault{Job: nightly, Kind: localcloud.UpdateFailed}); err != nil {
		t.Fatal(err)
	}

	_, err := client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: httpJob(tg.url)})
	refused(t, "update", err, codes.Internal, "The update failed and the job may not run until an update succeeds.")

	got, err := client.GetJob(t.Context(), &schedulerpb.GetJobRequest{Name: nightly})
	if err != nil || got.GetState() != schedulerpb.Job_UPDATE_FAILED {
		t.Errorf("after the failed update: %v, %v", got, err)
	}

	advance(t, cloud, time.Hour)

	if n := len(cloud.Deliveries("")); n != 0 {
		t.Errorf("%d deliveries of a job whose update failed", n)
	}

	got, err = client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: httpJob(tg.url)})
	if err != nil || got.GetState() != schedulerpb.Job_ENABLED {
		t.Errorf("update again: %v, %v", got, err)
	}
}

func TestJobsDriftBehindTheBackOfTheirClients(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	err := cloud.EditJob("nightly-report", func(j *schedulerpb.Job) { j.Schedule = "1 12 * * *" })
	if err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, time.Hour)

	if n := len(cloud.Deliveries("")); n != 1 {
		t.Errorf("%d deliveries", n)
	}

	got, err := schedulerClient(t, cloud, false).GetJob(t.Context(), &schedulerpb.GetJobRequest{Name: nightly})
	if err != nil || got.GetSchedule() != "1 12 * * *" {
		t.Errorf("job: %v, %v", got, err)
	}

	err = cloud.EditJob("other", func(*schedulerpb.Job) {})
	if want := `job "other" does not exist in the local cloud`; err == nil || err.Error() != want {
		t.Errorf("EditJob says %v, want %s", err, want)
	}
}
