package localcloud_test

import (
	"testing"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/chance"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

const (
	parent  = "projects/acme-prod/locations/europe-west1"
	nightly = parent + "/jobs/nightly-report"
)

func TestMain(m *testing.M) {
	chance.Fix()
	goleak.VerifyTestMain(m)
}

// start runs a cloud for the length of a test.
func start(t *testing.T, cfg localcloud.Config) *localcloud.Cloud {
	t.Helper()

	cloud, err := localcloud.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})

	return cloud
}

// noon is where the clocks of these tests start: a Friday.
func noon() time.Time { return time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC) }

func clientOptions(cloud *localcloud.Cloud, rest bool) []option.ClientOption {
	if rest {
		return []option.ClientOption{option.WithEndpoint(cloud.URL()), option.WithoutAuthentication()}
	}

	return []option.ClientOption{
		option.WithEndpoint(cloud.Addr()),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

// schedulerClient is the official client, over either transport.
func schedulerClient(t testing.TB, cloud *localcloud.Cloud, rest bool) *scheduler.CloudSchedulerClient {
	t.Helper()

	open := scheduler.NewCloudSchedulerClient
	if rest {
		open = scheduler.NewCloudSchedulerRESTClient
	}

	client, err := open(t.Context(), clientOptions(cloud, rest)...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = client.Close() })

	return client
}

// eachTransport runs a test with the official client over gRPC and over REST.
func eachTransport(t *testing.T, test func(t *testing.T, rest bool)) {
	t.Helper()

	for name, rest := range map[string]bool{"grpc": false, "rest": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, rest)
		})
	}
}

func httpJob(uri string) *schedulerpb.Job {
	return &schedulerpb.Job{
		Name:     nightly,
		Schedule: "*/5 * * * *",
		TimeZone: "UTC",
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
			Uri: uri, HttpMethod: schedulerpb.HttpMethod_POST, Body: []byte(`{"a":1}`),
		}},
	}
}
