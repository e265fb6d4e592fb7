package localcloud_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
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

func TestDomainScopedProjectsHaveAColonInTheirPaths(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := manual(t)
		client := schedulerClient(t, cloud, rest)
		at := "projects/example.com:proj/locations/europe-west1"
		job := httpJob("http://127.0.0.1:1/")
		job.Name = at + "/jobs/a"
		oidcAs("s@proj.example.com.iam.gserviceaccount.com")(job)

		if _, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: at, Job: job}); err != nil {
			t.Fatal(err)
		}

		paused, err := client.PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: job.GetName()})
		if err != nil || paused.GetState() != schedulerpb.Job_PAUSED {
			t.Errorf("pause: %v, %v", paused, err)
		}
	})
}

func TestNamelessJobsGetAName(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	job := httpJob("http://127.0.0.1:1/")
	job.Name = ""

	got, err := schedulerClient(t, cloud, true).CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: job})
	if err != nil || !strings.HasPrefix(got.GetName(), parent+"/jobs/") || len(got.GetName()) < len(parent)+20 {
		t.Errorf("created %v, %v", got, err)
	}
}
