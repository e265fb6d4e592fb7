package localcloud_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/googleapi"
	locationpb "google.golang.org/genproto/googleapis/cloud/location"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestCreateEchoesWhatTheServerFillsIn(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon())})
		client := schedulerClient(t, cloud, rest)

		got, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: httpJob("http://127.0.0.1:1/x?y=1")})
		if err != nil {
			t.Fatal(err)
		}

		want := &schedulerpb.Job{
			Name:            nightly,
			Schedule:        "*/5 * * * *",
			TimeZone:        "Etc/UTC",
			State:           schedulerpb.Job_ENABLED,
			UserUpdateTime:  timestamppb.New(noon()),
			ScheduleTime:    timestamppb.New(noon().Add(5 * time.Minute)),
			AttemptDeadline: durationpb.New(180 * time.Second),
			RetryConfig: &schedulerpb.RetryConfig{
				MaxRetryDuration:   durationpb.New(0),
				MinBackoffDuration: durationpb.New(5 * time.Second),
				MaxBackoffDuration: durationpb.New(time.Hour),
				MaxDoublings:       5,
			},
			Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
				Uri: "http://127.0.0.1:1/x?y=1", HttpMethod: schedulerpb.HttpMethod_POST, Body: []byte(`{"a":1}`),
				Headers: map[string]string{"User-Agent": "Google-Cloud-Scheduler", "Content-Type": "application/octet-stream"},
			}},
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("created job (-want +got):\n%s", diff)
		}

		read, err := client.GetJob(t.Context(), &schedulerpb.GetJobRequest{Name: nightly})
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(got, read, protocmp.Transform()); diff != "" {
			t.Errorf("read after create (-created +read):\n%s", diff)
		}
	})
}

// refused checks the code and the whole message of an error, over either transport.
func refused(t *testing.T, what string, err error, code codes.Code, message string) {
	t.Helper()

	if err == nil {
		t.Errorf("%s: no error, want %s: %s", what, code, message)

		return
	}

	var api *apierror.APIError
	if !errors.As(err, &api) {
		t.Errorf("%s: %v is no API error", what, err)

		return
	}

	if api.HTTPCode() > 0 {
		// Over REST the client knows the HTTP code and the text; several RPC codes share one of HTTP.
		var rest *googleapi.Error
		if !errors.As(err, &rest) || rest.Code != httpCode(code) || rest.Message != message {
			t.Errorf("%s: %v, want %d: %s", what, err, httpCode(code), message)
		}

		return
	}

	if got := api.GRPCStatus(); got.Code() != code || got.Message() != message {
		t.Errorf("%s:\n  %s: %s\nwant\n  %s: %s", what, got.Code(), got.Message(), code, message)
	}
}

func httpCode(code codes.Code) int {
	return map[codes.Code]int{
		codes.InvalidArgument: 400, codes.FailedPrecondition: 400, codes.PermissionDenied: 403, codes.NotFound: 404,
		codes.AlreadyExists: 409, codes.Aborted: 409, codes.ResourceExhausted: 429, codes.Internal: 500, codes.Unavailable: 503,
	}[code]
}

func TestBadJobsAreRefusedWithTheirReason(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	grpcClient, restClient := schedulerClient(t, cloud, false), schedulerClient(t, cloud, true)
	long := strings.Repeat("x", 2100)

	for name, tc := range map[string]struct {
		change func(*schedulerpb.Job)
		code   codes.Code
		want   string
	}{
		"name": {
			func(j *schedulerpb.Job) { j.Name = parent + "/jobs/a.b" },
			codes.InvalidArgument,
			`Job name "projects/acme-prod/locations/europe-west1/jobs/a.b" must be formatted: ` +
				`"projects/<PROJECT_ID>/locations/<LOCATION_ID>/jobs/<JOB_ID>", where <JOB_ID> matches [A-Za-z0-9_-]{1,500}.`,
		},
		"name of another parent": {
			func(j *schedulerpb.Job) { j.Name = "projects/acme-prod/locations/us-east1/jobs/a" },
			codes.InvalidArgument,
			`Job name "projects/acme-prod/locations/us-east1/jobs/a" must begin with the parent "projects/acme-prod/locations/europe-west1".`,
		},
		"schedule":    {func(j *schedulerpb.Job) { j.Schedule = "61 * * * *" }, codes.InvalidArgument, "Schedule or time zone is invalid."},
		"no schedule": {func(j *schedulerpb.Job) { j.Schedule = "" }, codes.InvalidArgument, "Schedule or time zone is invalid."},
		"time zone":   {func(j *schedulerpb.Job) { j.TimeZone = "Mars/Base" }, codes.InvalidArgument, "Schedule or time zone is invalid."},
		"description": {
			func(j *schedulerpb.Job) { j.Description = long },
			codes.InvalidArgument, "Job.description has 2100 characters. It must not be longer than 500.",
		},
		"no target": {
			func(j *schedulerpb.Job) { j.Target = nil },
			codes.InvalidArgument, "Job.target is required: one of http_target, app_engine_http_target and pubsub_target.",
		},
		"uri": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().Uri = "ftp://example.com" },
			codes.InvalidArgument, `HttpTarget.uri must begin with "http://" or "https://" and name a host.`,
		},
		"long uri": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().Uri = "http://example.com/" + long },
			codes.InvalidArgument, "HttpTarget.uri has 2119 characters after encoding. It must not be longer than 2083.",
		},
		"body with GET": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().HttpMethod = schedulerpb.HttpMethod_GET },
			codes.InvalidArgument, "HttpTarget.body is only allowed with the methods POST, PUT and PATCH.",
		},
		"header name": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().Headers = map[string]string{"a b": "c"} },
			codes.InvalidArgument, `HttpTarget.headers has the name "a b", which is no HTTP header name.`,
		},
		"header value": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().Headers = map[string]string{"a": "b\r\nc: d"} },
			codes.InvalidArgument, `HttpTarget.headers has a value for "a" that holds a line break or a zero byte.`,
		},
		"header size": {
			func(j *schedulerpb.Job) {
				j.GetHttpTarget().Headers = map[string]string{"a": strings.Repeat("b", 80<<10)}
				j.GetHttpTarget().Body = nil
			},
			codes.InvalidArgument, "HttpTarget.headers has 81953 bytes. The total size of headers must be less than 80 KB.",
		},
		"account": {
			oidcAs("nobody"),
			codes.InvalidArgument, `HttpTarget.oidc_token.service_account_email "nobody" must be the address of a service account.`,
		},
		"account of another project": {
			oidcAs("s@other.iam.gserviceaccount.com"),
			codes.PermissionDenied,
			`The principal (user or service account) lacks IAM permission "iam.serviceAccounts.actAs" for the resource ` +
				`"s@other.iam.gserviceaccount.com" (or the resource may not exist).`,
		},
		"deadline": {
			func(j *schedulerpb.Job) { j.AttemptDeadline = durationpb.New(14 * time.Second) },
			codes.InvalidArgument, "Job.attempt_deadline must be between 15s and 1800s.",
		},
		"retry count": {
			func(j *schedulerpb.Job) { j.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 6} },
			codes.InvalidArgument, "RetryConfig.retry_count must be between 0 and 5.",
		},
		"doublings": {
			func(j *schedulerpb.Job) { j.RetryConfig = &schedulerpb.RetryConfig{MaxDoublings: 17} },
			codes.InvalidArgument, "RetryConfig.max_doublings must be between 0 and 16.",
		},
		"negative duration": {
			func(j *schedulerpb.Job) {
				j.RetryConfig = &schedulerpb.RetryConfig{MaxRetryDuration: durationpb.New(-time.Second)}
			},
			codes.InvalidArgument, "RetryConfig.max_retry_duration must be a duration that is not negative.",
		},
		"backoff": {
			func(j *schedulerpb.Job) {
				j.RetryConfig = &schedulerpb.RetryConfig{MaxBackoffDuration: durationpb.New(time.Second)}
			},
			codes.InvalidArgument, "RetryConfig.min_backoff_duration must not be longer than max_backoff_duration.",
		},
		"App Engine uri": {
			appEngine("no-slash", schedulerpb.HttpMethod_GET),
			codes.InvalidArgument,
			`AppEngineHttpTarget.relative_uri must begin with "/", hold no white space and be at most 2083 characters long.`,
		},
		"App Engine method": {
			appEngine("/", schedulerpb.HttpMethod_PATCH),
			codes.InvalidArgument, "AppEngineHttpTarget.http_method must not be PATCH.",
		},
		"topic": {
			func(j *schedulerpb.Job) {
				j.Target = &schedulerpb.Job_PubsubTarget{PubsubTarget: &schedulerpb.PubsubTarget{TopicName: "t", Data: []byte("x")}}
			},
			codes.InvalidArgument, `PubsubTarget.topic_name must be formatted: "projects/<PROJECT_ID>/topics/<TOPIC_ID>".`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			job := httpJob("http://127.0.0.1:1/")
			tc.change(job)

			req := &schedulerpb.CreateJobRequest{Parent: parent, Job: job}
			_, err := grpcClient.CreateJob(t.Context(), req)
			refused(t, "gRPC", err, tc.code, tc.want)

			_, err = restClient.CreateJob(t.Context(), req)
			refused(t, "REST", err, tc.code, tc.want)
		})
	}
}

func oidcAs(email string) func(*schedulerpb.Job) {
	return func(j *schedulerpb.Job) {
		j.GetHttpTarget().AuthorizationHeader = &schedulerpb.HttpTarget_OidcToken{
			OidcToken: &schedulerpb.OidcToken{ServiceAccountEmail: email},
		}
	}
}

func appEngine(uri string, method schedulerpb.HttpMethod) func(*schedulerpb.Job) {
	return func(j *schedulerpb.Job) {
		j.Target = &schedulerpb.Job_AppEngineHttpTarget{
			AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{RelativeUri: uri, HttpMethod: method},
		}
	}
}

func TestMissingAndPresentJobs(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := manual(t)
		client := schedulerClient(t, cloud, rest)
		ctx := t.Context()

		_, err := client.GetJob(ctx, &schedulerpb.GetJobRequest{Name: nightly})
		refused(t, "get", err, codes.NotFound, "Job not found.")

		_, err = client.UpdateJob(ctx, &schedulerpb.UpdateJobRequest{Job: httpJob("http://127.0.0.1:1/")})
		refused(t, "update", err, codes.NotFound, "Job not found.")

		_, err = client.PauseJob(ctx, &schedulerpb.PauseJobRequest{Name: nightly})
		refused(t, "pause", err, codes.NotFound, "Job not found.")

		_, err = client.RunJob(ctx, &schedulerpb.RunJobRequest{Name: nightly})
		refused(t, "run", err, codes.NotFound, "Job not found.")

		err = client.DeleteJob(ctx, &schedulerpb.DeleteJobRequest{Name: nightly})
		refused(t, "delete", err, codes.NotFound, "Job not found.")

		create(t, cloud, httpJob("http://127.0.0.1:1/"))

		_, err = client.CreateJob(ctx, &schedulerpb.CreateJobRequest{Parent: parent, Job: httpJob("http://127.0.0.1:1/")})
		refused(t, "create again", err, codes.AlreadyExists, "Job "+nightly+" already exists.")

		_, err = client.CreateJob(ctx, &schedulerpb.CreateJobRequest{
			Parent: "projects/acme-prod/locations/mars-north1", Job: httpJob("http://127.0.0.1:1/"),
		})
		refused(t, "unknown region", err, codes.PermissionDenied,
			`The principal (user or service account) lacks IAM permission "cloudscheduler.jobs.create" for the resource `+
				`"projects/acme-prod/locations/mars-north1" (or the resource may not exist).`)

		if err := client.DeleteJob(ctx, &schedulerpb.DeleteJobRequest{Name: nightly}); err != nil {
			t.Fatal(err)
		}

		_, err = client.GetJob(ctx, &schedulerpb.GetJobRequest{Name: nightly})
		refused(t, "get after delete", err, codes.NotFound, "Job not found.")
	})
}

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

func TestListPagesThroughOneLocation(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := manual(t)
		client := schedulerClient(t, cloud, rest)

		var want []string

		for i := range 7 {
			job := httpJob("http://127.0.0.1:1/")
			job.Name = fmt.Sprintf("%s/jobs/job-%d", parent, i)
			want = append(want, job.GetName())
			create(t, cloud, job)
		}

		elsewhere := httpJob("http://127.0.0.1:1/")
		elsewhere.Name = "projects/acme-prod/locations/us-east1/jobs/other"

		if _, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{
			Parent: "projects/acme-prod/locations/us-east1", Job: elsewhere,
		}); err != nil {
			t.Fatal(err)
		}

		var got []string

		it := client.ListJobs(t.Context(), &schedulerpb.ListJobsRequest{Parent: parent, PageSize: 3})
		for job, err := range it.All() {
			if err != nil {
				t.Fatal(err)
			}

			got = append(got, job.GetName())

			// What is deleted on the way hides nothing else.
			if len(got) == 3 {
				if err := client.DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: want[0]}); err != nil {
					t.Fatal(err)
				}
			}
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("jobs (-want +got):\n%s", diff)
		}

		it = client.ListJobs(t.Context(), &schedulerpb.ListJobsRequest{Parent: parent, PageToken: "nonsense"})
		_, err := it.Next()
		refused(t, "bad token", err, codes.InvalidArgument, "The page token is invalid.")
	})
}

func TestLocationsAreListed(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		client := schedulerClient(t, manual(t), rest)

		var ids []string

		for at, err := range client.ListLocations(t.Context(), &locationpb.ListLocationsRequest{Name: "projects/acme-prod"}).All() {
			if err != nil {
				t.Fatal(err)
			}

			ids = append(ids, at.GetLocationId())
		}

		if !slices.Contains(ids, "europe-west1") || !slices.Contains(ids, "us-central1") {
			t.Errorf("locations: %v", ids)
		}
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

func TestCallsAreRecordedAndFailOnRequest(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	cloud.FailNext("CreateJob", codes.ResourceExhausted, "Quota exceeded.", 1)
	cloud.FailAfter("DeleteJob", codes.Internal, "Lost.", 1)

	client := schedulerClient(t, cloud, true)
	req := &schedulerpb.CreateJobRequest{Parent: parent, Job: httpJob("http://127.0.0.1:1/")}

	_, err := client.CreateJob(t.Context(), req)
	refused(t, "first create", err, codes.ResourceExhausted, "Quota exceeded.")

	if _, err := client.CreateJob(t.Context(), req); err != nil {
		t.Fatal(err)
	}

	_, err = client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{
		Job: httpJob("http://127.0.0.1:1/"), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"time_zone"}},
	})
	if err != nil {
		t.Fatal(err)
	}

	err = client.DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: nightly})
	refused(t, "delete", err, codes.Internal, "Lost.")

	if job, err := cloud.Job(nightly); err == nil {
		t.Errorf("the delete that was reported as failed did not take effect: %v", job)
	}

	type call struct {
		Method, Resource string
		Mask             []string
		Code             codes.Code
		REST             bool
	}

	var got []call
	for _, r := range cloud.Requests() {
		got = append(got, call{r.Method, r.Resource, r.Mask, r.Code, r.REST})
	}

	want := []call{
		{"CreateJob", nightly, nil, codes.ResourceExhausted, true},
		{"CreateJob", nightly, nil, codes.OK, true},
		{"UpdateJob", nightly, []string{"time_zone"}, codes.OK, true},
		{"DeleteJob", nightly, nil, codes.Internal, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
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

func TestAppEngineRoutingComesBackAsHost(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	job := httpJob("")
	appEngine("", schedulerpb.HttpMethod_HTTP_METHOD_UNSPECIFIED)(job)
	job.GetAppEngineHttpTarget().AppEngineRouting = &schedulerpb.AppEngineRouting{Service: "worker", Version: "v2"}
	create(t, cloud, job)

	stored, err := cloud.Job(nightly)
	if err != nil {
		t.Fatal(err)
	}

	want := &schedulerpb.AppEngineHttpTarget{
		RelativeUri: "/", HttpMethod: schedulerpb.HttpMethod_POST,
		Headers:          map[string]string{"User-Agent": "AppEngine-Google; (+http://code.google.com/appengine)"},
		AppEngineRouting: &schedulerpb.AppEngineRouting{Host: "v2.worker.acme-prod.appspot.com"},
	}
	if diff := cmp.Diff(want, stored.GetAppEngineHttpTarget(), protocmp.Transform()); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}

	if stored.GetAttemptDeadline() != nil {
		t.Errorf("deadline is %v", stored.GetAttemptDeadline())
	}
}
