package scheduledjob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

// populate makes jobs of every kind of target in two regions.
func populate(t *testing.T, cloud *localcloud.Cloud) {
	t.Helper()
	targets := map[string]*schedulerpb.Job{
		"web": {Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://reports.example.com/"}}},
		"engine": {Target: &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{
			RelativeUri: "/run",
		}}},
		"topic": {Target: &schedulerpb.Job_PubsubTarget{PubsubTarget: &schedulerpb.PubsubTarget{
			TopicName: "projects/acme-prod/topics/reports", Data: []byte("hello"),
		}}},
	}
	for kind, job := range targets {
		for _, region := range []string{"europe-west1", "us-central1"} {
			name := jobs.Name{Project: "acme-prod", Region: region, Job: kind}
			job.Name, job.Schedule, job.TimeZone = name.String(), "0 3 * * *", "Etc/UTC"
			if _, err := client(cloud).Create(t.Context(), name, job); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func query(t *testing.T, protocol acctest.Protocol, config object, limit int64) []tfprotov6.ListResourceResult {
	t.Helper()
	server, ok := protocol.ProviderServer.(tfprotov6.ListResourceServer)
	if !ok {
		t.Fatal("the provider lists nothing")
	}
	stream, err := server.ListResource(context.Background(), &tfprotov6.ListResourceRequest{
		TypeName: scheduledjob.TypeName, Config: config.Value(t), IncludeResource: true, Limit: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(stream.Results)
}

func TestJobsOfARegionAreListedAsTheyWouldBeImported(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	populate(t, cloud)
	for title, tested := range map[string]struct {
		config object
		limit  int64
		want   []string
	}{
		"the provider's region": {object{}, 100, []string{"europe-west1 engine 0 3 * * *", "europe-west1 web 0 3 * * *"}},
		"another region":        {object{"region": "us-central1"}, 100, []string{"us-central1 engine 0 3 * * *", "us-central1 web 0 3 * * *"}},
		"a limit":               {object{}, 1, []string{"europe-west1 engine 0 3 * * *"}},
		"an empty region":       {object{"region": "asia-east1"}, 100, nil},
	} {
		var got []string
		for _, result := range query(t, protocol, tested.config, tested.limit) {
			if len(result.Diagnostics) > 0 {
				t.Fatalf("%s: %s", title, acctest.Text(result.Diagnostics[0]))
			}
			if result.Identity == nil {
				t.Errorf("%s: no identity", title)
			}
			state := protocol.Decode(t, acctest.Resource{Type: scheduledjob.TypeName, State: result.Resource})
			got = append(got, fmt.Sprint(at(t, state, "region"), " ", result.DisplayName, " ", at(t, state, "schedule")))
		}
		if diff := cmp.Diff(tested.want, got); diff != "" {
			t.Errorf("%s: %s", title, diff)
		}
	}
}

func TestListSaysWhatKeepsItFromListing(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	cloud.FailNext("ListJobs", codes.PermissionDenied, "lacks permission", 1)
	found := query(t, protocol, object{}, 10)
	if len(found) != 1 || !strings.Contains(acctest.Text(found[0].Diagnostics[0]), "roles/cloudscheduler") {
		t.Errorf("listed %v", found)
	}
	nowhere := acctest.NewProtocol(t)
	if diagnostics := nowhere.Configure(t, object{"access_token": "unused", "project": "acme-prod"}); len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	found = query(t, nowhere, object{}, 10)
	if len(found) != 1 || found[0].Diagnostics[0].Summary != "region of the list is not set" {
		t.Errorf("listed %v", found)
	}
}
