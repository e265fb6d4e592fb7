package localcloud_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// BenchmarkTwoThousandJobsEachMinute lets one minute pass for 2,000 jobs with tokens that are all due at its end.
func BenchmarkTwoThousandJobsEachMinute(b *testing.B) {
	const jobs = 2000

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()

	cloud, err := localcloud.Start(b.Context(), localcloud.Config{Clock: localcloud.ManualClock(noon())})
	if err != nil {
		b.Fatal(err)
	}
	defer cloud.Close()

	client := schedulerClient(b, cloud, false)

	for i := range jobs {
		job := httpJob(server.URL)
		job.Name, job.Schedule = fmt.Sprintf("%s/jobs/job-%d", parent, i), "* * * * *"
		withToken(job, "https://reports.example.com")

		_, err := client.CreateJob(b.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: job})
		if err != nil {
			b.Fatal(err)
		}
	}

	b.ResetTimer()

	for b.Loop() {
		if err := cloud.Advance(b.Context(), time.Minute); err != nil {
			b.Fatal(err)
		}
	}

	b.StopTimer()

	due := int(cloud.Now().Sub(noon())/time.Minute) * jobs
	if got := len(cloud.Deliveries("")); got < min(due, 7000) {
		b.Fatalf("%d deliveries are remembered of %d", got, due)
	}

	b.ReportMetric(float64(b.N*jobs)/b.Elapsed().Seconds(), "deliveries/s")
}
