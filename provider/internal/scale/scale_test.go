package scale_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// jobs is how many jobs the configuration declares.
func jobs(b *testing.B) int {
	b.Helper()
	text := os.Getenv("IDEMPOTENT_SCALE_JOBS")
	if text == "" {
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("IDEMPOTENT_SCALE_JOBS %q is not a number of jobs", text)
	}
	return n
}

// BenchmarkThousandJobs plans, applies, refreshes and changes nothing, each as a sub-benchmark that runs once.
func BenchmarkThousandJobs(b *testing.B) {
	n := jobs(b)
	w := prepare(b, "idempotent-jobs/idempotent", buildProvider(b))
	w.write(b, ours(w.cloud, n))
	w.measure(b, "plan", "plan", "-input=false", "-refresh=false", "-out=plan.bin")
	w.measure(b, "apply", "apply", "-input=false", "plan.bin")
	w.measure(b, "refresh", "plan", "-input=false", "-refresh-only")
	w.measure(b, "plan of no change", "plan", "-input=false", "-refresh=false", "-detailed-exitcode")
}

// BenchmarkThousandJobsOfGoogle is the same plan by hashicorp/google, where its binary is at hand.
func BenchmarkThousandJobsOfGoogle(b *testing.B) {
	binary := os.Getenv("IDEMPOTENT_SCALE_GOOGLE")
	if binary == "" {
		b.Skip("IDEMPOTENT_SCALE_GOOGLE names no binary of hashicorp/google")
	}
	w := prepare(b, "hashicorp/google", binary)
	w.write(b, googles(w.cloud, jobs(b)))
	w.measure(b, "plan", "plan", "-input=false", "-refresh=false", "-out=plan.bin")
}

// workspace is a folder in which the tool runs with one provider binary.
type workspace struct {
	dir, cli string
	env      []string
	cloud    *localcloud.Cloud
}

func prepare(b *testing.B, source, binary string) *workspace {
	b.Helper()
	w := &workspace{dir: b.TempDir(), cli: tool(b)}
	cloud, err := localcloud.Start(b.Context(), localcloud.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cloud.Close() })
	w.cloud = cloud
	config := filepath.Join(w.dir, "cli.tfrc")
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n",
		source, filepath.Dir(binary))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	w.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+config, "CHECKPOINT_DISABLE=1", "TF_LOG=", "GOOGLE_OAUTH_ACCESS_TOKEN=unused")
	return w
}

// tool is the command line tool that the benchmark drives.
func tool(b *testing.B) string {
	b.Helper()
	for _, candidate := range []string{os.Getenv("IDEMPOTENT_TEST_TERRAFORM"), "terraform", os.Getenv("IDEMPOTENT_TEST_TOFU"), "tofu"} {
		if candidate == "" {
			continue
		}
		if found, err := exec.LookPath(candidate); err == nil {
			return found
		}
	}
	b.Skip("neither terraform nor tofu is found")
	return ""
}

func buildProvider(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "terraform-provider-idempotent")
	output, err := exec.CommandContext(b.Context(), "go", "build", "-o", binary, "../../..").CombinedOutput()
	if err != nil {
		b.Fatalf("build the provider: %v\n%s", err, output)
	}
	return binary
}

func (w *workspace) write(b *testing.B, config string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
}

// measure runs the tool once and reports wall time, CPU time, the largest resident set of tool and provider, and API requests.
func (w *workspace) measure(b *testing.B, title string, arguments ...string) {
	b.Helper()
	b.Run(title, func(b *testing.B) {
		if b.N > 1 {
			b.Skip("run once: -benchtime 1x")
		}
		before := len(w.cloud.Requests())
		command := exec.CommandContext(b.Context(), w.cli, arguments...)
		command.Dir, command.Env = w.dir, w.env
		var output strings.Builder
		command.Stdout, command.Stderr = &output, &output
		start := time.Now()
		err := command.Run()
		took := time.Since(start)
		if err != nil {
			b.Fatalf("%v: %v\n%.4000s", arguments, err, output.String())
		}
		usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			b.Fatal("the system does not say what was used")
		}
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric((command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds(), "cpu-s")
		b.ReportMetric(float64(usage.Maxrss)/1024, "MiB-peak")
		b.ReportMetric(float64(len(w.cloud.Requests())-before), "requests")
	})
}

const body = `
  count    = %d
  name     = "job-${count.index}"
  schedule = "0 3 * * *"
  http_target {
    uri         = "https://reports-abc.a.run.app/run"
    http_method = "POST"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
      audience              = "https://reports-abc.a.run.app"
    }
  }
}
`

func ours(cloud *localcloud.Cloud, n int) string {
	return fmt.Sprintf(`
terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

provider "idempotent" {
  project                         = "acme-prod"
  region                          = "europe-west1"
  cloud_scheduler_custom_endpoint = "%s/v1/"
  firestore_custom_endpoint       = "%[1]s/v1/"
}

resource "idempotent_scheduled_job" "many" {`+strings.Replace(body, "%d", "%[2]d", 1), cloud.URL(), n)
}

func googles(cloud *localcloud.Cloud, n int) string {
	return fmt.Sprintf(`
provider "google" {
  project                         = "acme-prod"
  region                          = "europe-west1"
  cloud_scheduler_custom_endpoint = "%s/v1/"
}

resource "google_cloud_scheduler_job" "many" {`+strings.Replace(body, "%d", "%[2]d", 1), cloud.URL(), n)
}
