package localcloud_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// gcloud runs Google's own command line tool against a cloud and returns what it prints.
func gcloud(t *testing.T, cloud *localcloud.Cloud, config string, args ...string) (string, error) {
	t.Helper()

	args = append([]string{"scheduler", "jobs"}, args...)
	args = append(args, "--location=europe-west1", "--quiet")
	cmd := exec.CommandContext(t.Context(), engines.Gcloud(t), args...)
	cmd.Env = append(cmd.Environ(),
		"CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDSCHEDULER="+cloud.URL()+"/",
		"CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true",
		"CLOUDSDK_CORE_PROJECT=acme-prod",
		"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING=true",
		"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK=true",
		"CLOUDSDK_CONFIG="+config,
	)

	var out, log strings.Builder

	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()

	return out.String() + log.String(), err
}

func TestGcloudPrintsBackWhatItSet(t *testing.T) {
	t.Parallel()

	engines.Gcloud(t)

	tg, cloud, config := newTarget(t, nil), manual(t), t.TempDir()
	run := func(args ...string) string {
		t.Helper()

		text, err := gcloud(t, cloud, config, args...)
		if err != nil {
			t.Fatalf("gcloud %s: %v\n%s", strings.Join(args, " "), err, text)
		}

		return text
	}

	run("create", "http", "nightly-report", "--schedule=*/10 * * * *", "--time-zone=Europe/Berlin", "--uri="+tg.url+"/work",
		"--http-method=PUT", "--headers=X-Team=billing,Content-Type=application/json", `--message-body={"a":1}`,
		"--oidc-service-account-email="+account, "--oidc-token-audience=https://reports.example.com", "--attempt-deadline=5m",
		"--max-retry-attempts=3", "--min-backoff=8s", "--max-backoff=20m", "--max-doublings=4", "--max-retry-duration=1h",
		"--description=reports of the night")

	want := map[string]any{
		"name": nightly, "description": "reports of the night", "schedule": "*/10 * * * *", "timeZone": "Europe/Berlin",
		"state": "ENABLED", "attemptDeadline": "300s", "scheduleTime": "2026-10-16T12:10:00Z", "userUpdateTime": "2026-10-16T12:00:00Z",
		"retryConfig": map[string]any{
			"retryCount": 3.0, "minBackoffDuration": "8s", "maxBackoffDuration": "1200s", "maxDoublings": 4.0, "maxRetryDuration": "3600s",
		},
		"httpTarget": map[string]any{
			"uri": tg.url + "/work", "httpMethod": "PUT", "body": "eyJhIjoxfQ==",
			"headers": map[string]any{
				"X-Team": "billing", "Content-Type": "application/json", "User-Agent": "Google-Cloud-Scheduler", "Authorization": "",
			},
			"oidcToken": map[string]any{"serviceAccountEmail": account, "audience": "https://reports.example.com"},
		},
	}

	var described map[string]any

	text := run("describe", "nightly-report", "--format=json")
	if err := json.Unmarshal([]byte(text), &described); err != nil {
		t.Fatalf("%v in %s", err, text)
	}

	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("described job (-want +got):\n%s", diff)
	}

	// gcloud sends the whole job with a mask: what the mask does not name stays.
	run("update", "http", "nightly-report", "--schedule=*/5 * * * *")

	want["schedule"], want["scheduleTime"] = "*/5 * * * *", "2026-10-16T12:05:00Z"

	var listed []map[string]any

	out := run("list", "--format=json")
	if err := json.Unmarshal([]byte(out), &listed); err != nil {
		t.Fatalf("%v in %s", err, out)
	}

	if diff := cmp.Diff([]map[string]any{want}, listed); diff != "" {
		t.Errorf("updated job (-want +got):\n%s", diff)
	}

	run("pause", "nightly-report")

	if job, err := cloud.Job(nightly); err != nil || job.GetState() != schedulerpb.Job_PAUSED {
		t.Errorf("after pause: %v, %v", job, err)
	}

	run("resume", "nightly-report")
	run("run", "nightly-report")

	got := landed(t, cloud, 1)
	if !got[0].Forced || !got[0].ScheduleTime.Equal(noon().Add(5*time.Minute)) || got[0].Status != 200 {
		t.Errorf("forced run: %+v", got[0])
	}

	run("delete", "nightly-report")

	text, err := gcloud(t, cloud, config, "describe", "nightly-report")
	if err == nil || !strings.Contains(text, "NOT_FOUND: Job not found.") {
		t.Errorf("describe after delete: %v, %s", err, text)
	}
}
