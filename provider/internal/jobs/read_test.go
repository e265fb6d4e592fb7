package jobs_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

// region is a cloud with n jobs, a client that has written nothing, and the number of requests made before it.
func region(t *testing.T, n int) (*localcloud.Cloud, *jobs.Client, int) {
	t.Helper()
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	writer := newClient(cloud)
	inTens(n, func(i int) {
		if _, err := writer.Create(t.Context(), nth(i), definition(i)); err != nil {
			t.Error(err)
		}
	})
	return cloud, newClient(cloud), len(cloud.Requests())
}

func newClient(cloud *localcloud.Cloud) *jobs.Client {
	return jobs.New(google.Settings{SchedulerEndpoint: cloud.URL()})
}

func nth(i int) jobs.Name {
	return jobs.Name{Project: "acme-prod", Region: "europe-west1", Job: fmt.Sprintf("report-%04d", i)}
}

func definition(i int) *schedulerpb.Job {
	return &schedulerpb.Job{
		Name: nth(i).String(), Schedule: "0 3 * * *", TimeZone: "Etc/UTC", Description: strconv.Itoa(i),
		Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://reports.example.com/"}},
	}
}

// inTens does as Terraform does: ten at once.
func inTens(n int, do func(i int)) {
	var all sync.WaitGroup
	free := make(chan struct{}, 10)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	all.Wait()
}

func readAll(t *testing.T, client *jobs.Client, n int) {
	t.Helper()
	inTens(n, func(i int) {
		job, err := client.Read(t.Context(), nth(i))
		if err != nil {
			t.Error(err)
		} else if job.GetDescription() != strconv.Itoa(i) {
			t.Errorf("job %d is %q", i, job.GetDescription())
		}
	})
}

func methods(cloud *localcloud.Cloud, since int) map[string]int {
	made := map[string]int{}
	for _, request := range cloud.Requests()[since:] {
		made[request.Method]++
	}
	return made
}

func TestAThousandJobsAreReadWithAHandfulOfRequests(t *testing.T) {
	t.Parallel()
	cloud, client, since := region(t, 1000)
	readAll(t, client, 1000)
	made := methods(cloud, since)
	if made["ListJobs"] != 2 || made["GetJob"]+made["ListJobs"] > 10 {
		t.Errorf("made %v", made)
	}
}

func TestAFewJobsAreReadByName(t *testing.T) {
	t.Parallel()
	cloud, client, since := region(t, 5)
	readAll(t, client, 3)
	if made := methods(cloud, since); made["GetJob"] != 3 || made["ListJobs"] != 0 {
		t.Errorf("made %v", made)
	}
}

func TestNothingIsReadFromAPageAfterAWrite(t *testing.T) {
	t.Parallel()
	cloud, client, _ := region(t, 20)
	readAll(t, client, 20)
	changed := definition(7)
	changed.Description = "new"
	if _, err := client.Update(t.Context(), nth(7), changed, "description"); err != nil {
		t.Fatal(err)
	}
	since := len(cloud.Requests())
	job, err := client.Read(t.Context(), nth(7))
	if err != nil || job.GetDescription() != "new" {
		t.Errorf("read %q, %v", job.GetDescription(), err)
	}
	if made := methods(cloud, since); made["GetJob"] != 1 {
		t.Errorf("made %v", made)
	}
}

func TestJobsAreReadByNameWhereTheyMayNotBeListed(t *testing.T) {
	t.Parallel()
	cloud, client, since := region(t, 20)
	cloud.FailNext("ListJobs", codes.PermissionDenied, "lacks permission", 100)
	readAll(t, client, 20)
	if made := methods(cloud, since); made["ListJobs"] != 1 || made["GetJob"] != 20 {
		t.Errorf("made %v", made)
	}
}

func TestAJobThatIsOnNoPageIsAskedForByName(t *testing.T) {
	t.Parallel()
	cloud, client, _ := region(t, 20)
	readAll(t, client, 20)
	if _, err := client.Read(t.Context(), nth(20)); status.Code(err) != codes.NotFound {
		t.Errorf("a job that is not there: %v", err)
	}
	if _, err := newClient(cloud).Create(t.Context(), nth(20), definition(20)); err != nil {
		t.Fatal(err)
	}
	if job, err := client.Read(t.Context(), nth(20)); err != nil || job.GetDescription() != "20" {
		t.Errorf("a job that somebody made meanwhile: %q, %v", job.GetDescription(), err)
	}
}
