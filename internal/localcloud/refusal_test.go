package localcloud_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

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
		"size": {
			func(j *schedulerpb.Job) { j.GetHttpTarget().Body = make([]byte, 1<<20) },
			codes.InvalidArgument, "The job has 1048674 bytes. It must not be larger than 1048576.",
		},
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
			codes.InvalidArgument, "HttpTarget.headers has 81921 bytes. The total size of headers must be less than 80 KB.",
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
