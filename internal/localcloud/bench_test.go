package localcloud_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

const manyJobs = 2000

// many starts a cloud with jobs that are due each minute and carry tokens.
func many(b *testing.B, cfg localcloud.Config) *localcloud.Cloud {
	b.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(server.Close)

	cloud, err := localcloud.Start(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}

	b.Cleanup(func() { _ = cloud.Close() })

	client := schedulerClient(b, cloud, false)

	for i := range manyJobs {
		job := httpJob(server.URL)
		job.Name, job.Schedule = fmt.Sprintf("%s/jobs/job-%d", parent, i), "* * * * *"
		withToken(job, "https://reports.example.com")

		_, err := client.CreateJob(b.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: job})
		if err != nil {
			b.Fatal(err)
		}
	}

	return cloud
}

// BenchmarkTwoThousandJobsEachMinute lets minutes pass at whose end 2,000 jobs are due at once. It reports deliveries a second and how
// late they began, counted from when the minute was over, and fails if one is missing.
func BenchmarkTwoThousandJobsEachMinute(b *testing.B) {
	cloud := many(b, localcloud.Config{Clock: localcloud.ManualClock(noon()), History: 1 << 20})

	var late []time.Duration

	for b.Loop() {
		begun, before := time.Now(), len(cloud.Deliveries(""))

		if err := cloud.Advance(b.Context(), time.Minute); err != nil {
			b.Fatal(err)
		}

		deliveries := cloud.Deliveries("")[before:]
		if len(deliveries) != manyJobs {
			b.Fatalf("%d deliveries in a minute", len(deliveries))
		}

		for _, d := range deliveries {
			if d.Status != http.StatusOK {
				b.Fatalf("delivery: %+v", d)
			}

			late = append(late, d.Started.Sub(begun))
		}
	}

	report(b, late)
	b.ReportMetric(float64(len(late))/b.Elapsed().Seconds(), "deliveries/s")
}

// BenchmarkTwoThousandJobsInRealTime waits for one real minute to end, whatever b.N is, and reports how late deliveries began.
func BenchmarkTwoThousandJobsInRealTime(b *testing.B) {
	cloud := many(b, localcloud.Config{})

	var late []time.Duration

	for b.Loop() {
		before := len(cloud.Deliveries(""))
		// Watching costs time of its own: it begins when the rush is over.
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 3*time.Second)))

		err := cloud.Wait(b.Context(), func(all []localcloud.Delivery) bool {
			ended := 0

			for _, d := range all[before:] {
				if !d.InFlight() {
					ended++
				}
			}

			return ended >= manyJobs
		})
		if err != nil {
			b.Fatal(err)
		}

		for _, d := range cloud.Deliveries("")[before:] {
			late = append(late, d.Started.Sub(d.ScheduleTime))
		}
	}

	report(b, late)
}

func report(b *testing.B, late []time.Duration) {
	b.Helper()
	slices.Sort(late)

	for name, part := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "max-ms": 1} {
		at := late[min(len(late)-1, int(part*float64(len(late))))]
		b.ReportMetric(float64(at.Microseconds())/1000, name)
	}
}
