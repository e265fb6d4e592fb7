package localcloud_test

import (
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
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
