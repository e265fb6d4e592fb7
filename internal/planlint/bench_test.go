package planlint_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

// groupOfFive is five resources of a repository: a service, who may call it, an account, a job of hashicorp/google and one of ours.
const groupOfFive = `
resource "google_cloud_run_v2_service" "s%[1]d" {
  name     = "service-%[1]d"
  location = "europe-west1"

  template {
    timeout = "300s"

    containers {
      image = "europe-west1-docker.pkg.dev/acme-prod/images/service-%[1]d:1.%[1]d"
    }
  }
}

resource "google_cloud_run_v2_service_iam_member" "s%[1]d" {
  name     = google_cloud_run_v2_service.s%[1]d.name
  location = "europe-west1"
  role     = "roles/run.invoker"
  member   = "serviceAccount:${google_service_account.s%[1]d.email}"
}

resource "google_service_account" "s%[1]d" {
  account_id   = "caller-%[1]d"
  display_name = "calls service %[1]d"
}

resource "google_cloud_scheduler_job" "s%[1]d" {
  name             = "google-%[1]d"
  description      = "collects what service %[1]d has left behind"
  schedule         = "30 2 * * *"
  time_zone        = "Europe/Berlin"
  attempt_deadline = "180s"

  http_target {
    uri         = "${google_cloud_run_v2_service.s%[1]d.uri}/collect"
    http_method = "POST"
    body        = "eyJhIjogMX0="
    headers     = { "Content-Type" = "application/json", "X-Acme-Note" = "%[2]s" }

    oidc_token {
      service_account_email = google_service_account.s%[1]d.email
      audience              = google_cloud_run_v2_service.s%[1]d.uri
    }
  }

  retry_config {
    retry_count = 3
  }
}

resource "idempotent_scheduled_job" "s%[1]d" {
  name      = "ours-%[1]d"
  schedule  = "15 3 * * 1-5"
  time_zone = "Europe/Berlin"

  http_target {
    uri     = "https://service-%[1]d-abc123-ew.a.run.app/run"
    headers = { "X-Acme-Note" = "%[2]s" }

    oidc_token {
      service_account_email = "caller-%[1]d@acme-prod.iam.gserviceaccount.com"
    }
  }
}
`

// largePlan is a plan that changes n resources, about 6 KB each as in life.
func largePlan(tb testing.TB, n int) []byte {
	tb.Helper()
	var now, before strings.Builder
	for i := range n / 5 {
		fmt.Fprintf(&now, groupOfFive, i, strings.Repeat("n", 700))
		fmt.Fprintf(&before, groupOfFive, i, strings.Repeat("b", 700))
	}
	plan, err := plantest.Plan(
		plantest.Files{"providers.tf": providers, "main.tf": before.String()}, plantest.Files{"providers.tf": providers, "main.tf": now.String()})
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// BenchmarkTenThousandResources reads the plan from a file, as the command line does, and judges it. peak-heap-MB is the greatest
// heap of all iterations, best-s the shortest time of one: on a machine that does other work as well it says more than the mean.
func BenchmarkTenThousandResources(b *testing.B) {
	path := filepath.Join(b.TempDir(), "plan.json")
	b.SetBytes(writeLargePlan(b, path))
	debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the command line sets it
	b.ReportAllocs()
	best := time.Duration(math.MaxInt64)
	peak := watchHeap()
	for b.Loop() {
		begin := time.Now()
		checkFile(b, path)
		best = min(best, time.Since(begin))
	}
	b.StopTimer()
	b.ReportMetric(float64(peak())/(1<<20), "peak-heap-MB")
	b.ReportMetric(best.Seconds(), "best-s")
}

// writeLargePlan leaves nothing of the plan in memory.
func writeLargePlan(b *testing.B, path string) (size int64) {
	b.Helper()
	plan := largePlan(b, 10_000)
	if err := os.WriteFile(path, plan, 0o600); err != nil {
		b.Fatal(err)
	}
	return int64(len(plan))
}

func checkFile(b *testing.B, path string) {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	document, err := planlint.Read(file)
	if err != nil {
		b.Fatal(err)
	}
	result := planlint.Check(document, planlint.Options{Now: now})
	if result.Jobs != 4_000 || len(result.Findings) == 0 {
		b.Fatalf("%d jobs, %d findings", result.Jobs, len(result.Findings))
	}
}

// watchHeap samples the heap in use until its result is called, which returns the greatest sample.
func watchHeap() func() uint64 {
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		var greatest uint64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				greatest = max(greatest, m.HeapInuse)
			case <-done:
				result <- greatest
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-result
	}
}
