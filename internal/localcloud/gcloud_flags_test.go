package localcloud_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// gcloudStep is a command with flags, and what of the job that it prints must differ from the step before.
type gcloudStep struct {
	name string
	args []string
	want map[string]any
}

// TestEveryFlagOfGcloudIsPrintedBack lets gcloud set, change and clear all that its commands on jobs can. What it prints is the job
// that the cloud answers with. Three flags change nothing, since gcloud leaves them out of the update mask: --clear-message-body, and
// --http-method for App Engine; --clear-service asks for the service "default".
func TestEveryFlagOfGcloudIsPrintedBack(t *testing.T) {
	t.Parallel()

	engines.Gcloud(t)

	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte(`{"b":2}`), 0o600); err != nil {
		t.Fatal(err)
	}

	const userAgent = "AppEngine-Google; (+http://code.google.com/appengine)"

	for kind, steps := range map[string][]gcloudStep{
		"app-engine": {
			{
				"create",
				[]string{
					"--schedule=0 3 * * *", "--time-zone=Europe/Berlin", "--description=of the night", "--attempt-deadline=2h",
					"--max-retry-attempts=3", "--max-retry-duration=1h", "--min-backoff=8s", "--max-backoff=20m", "--max-doublings=4",
					"--relative-url=/work?a=1", "--http-method=put", "--version=v2", "--service=reports", "--headers=X-Team=billing,X-B=b",
					`--message-body={"a":1}`,
				},
				map[string]any{
					"state": "ENABLED", "schedule": "0 3 * * *", "timeZone": "Europe/Berlin", "description": "of the night", "attemptDeadline": "7200s",
					"retryConfig": map[string]any{
						"retryCount": 3.0, "maxRetryDuration": "3600s", "minBackoffDuration": "8s", "maxBackoffDuration": "1200s", "maxDoublings": 4.0,
					},
					"appEngineHttpTarget": map[string]any{
						"relativeUri": "/work?a=1", "httpMethod": "PUT", "body": "eyJhIjoxfQ==",
						"appEngineRouting": map[string]any{"host": "v2.reports.acme-prod.appspot.com"},
						"headers": map[string]any{
							"X-Team": "billing", "X-B": "b", "Content-Type": "application/octet-stream", "User-Agent": userAgent,
						},
					},
				},
			},
			{
				"update",
				[]string{
					"--schedule=0 4 * * *", "--time-zone=Asia/Tokyo", "--description=of the morning", "--attempt-deadline=3h",
					"--max-retry-attempts=2", "--max-retry-duration=2h", "--min-backoff=9s", "--max-backoff=30m", "--max-doublings=3",
					"--relative-url=/other", "--http-method=post", "--version=v3", "--service=jobs", "--update-headers=X-Team=other",
					"--remove-headers=X-B", "--message-body-from-file=" + body,
				},
				map[string]any{
					"schedule": "0 4 * * *", "timeZone": "Asia/Tokyo", "description": "of the morning", "attemptDeadline": "10800s",
					"retryConfig": map[string]any{
						"retryCount": 2.0, "maxRetryDuration": "7200s", "minBackoffDuration": "9s", "maxBackoffDuration": "1800s", "maxDoublings": 3.0,
					},
					"appEngineHttpTarget": map[string]any{
						"relativeUri": "/other", "httpMethod": "PUT", "body": "eyJiIjoyfQ==",
						"appEngineRouting": map[string]any{"host": "v3.jobs.acme-prod.appspot.com"},
						"headers": map[string]any{
							"X-Team": "other", "Content-Type": "application/octet-stream", "User-Agent": userAgent,
						},
					},
				},
			},
			{
				"update",
				[]string{
					"--clear-time-zone", "--clear-max-retry-attempts", "--clear-max-retry-duration", "--clear-min-backoff", "--clear-max-backoff",
					"--clear-max-doublings", "--clear-relative-url", "--clear-service", "--clear-headers", "--clear-message-body",
				},
				map[string]any{
					"timeZone": "Etc/UTC", "retryConfig": defaultRetry(),
					"appEngineHttpTarget": map[string]any{
						"relativeUri": "/", "httpMethod": "PUT", "body": "eyJiIjoyfQ==",
						"appEngineRouting": map[string]any{"host": "default.acme-prod.appspot.com"},
						"headers":          map[string]any{"Content-Type": "application/octet-stream", "User-Agent": userAgent},
					},
				},
			},
		},
		"http": {
			{
				"create",
				[]string{
					"--schedule=0 3 * * *", "--uri=https://example.com/a", "--oauth-service-account-email=" + account,
					"--oauth-token-scope=https://www.googleapis.com/auth/devstorage.read_only", "--message-body-from-file=" + body,
				},
				map[string]any{
					"state": "ENABLED", "schedule": "0 3 * * *", "timeZone": "Etc/UTC", "attemptDeadline": "180s", "retryConfig": defaultRetry(),
					"httpTarget": map[string]any{
						"uri": "https://example.com/a", "httpMethod": "POST", "body": "eyJiIjoyfQ==",
						"headers": map[string]any{"User-Agent": "Google-Cloud-Scheduler", "Authorization": "", "Content-Type": "application/octet-stream"},
						"oauthToken": map[string]any{
							"serviceAccountEmail": account, "scope": "https://www.googleapis.com/auth/devstorage.read_only",
						},
					},
				},
			},
			{
				"update",
				[]string{
					"--time-zone=Asia/Tokyo", "--description=of the morning", "--attempt-deadline=4m", "--max-retry-attempts=2",
					"--max-retry-duration=2h", "--min-backoff=9s", "--max-backoff=30m", "--max-doublings=3", "--uri=https://example.com/b",
					"--http-method=put", "--update-headers=X-Team=other,X-B=b", "--message-body=text", "--oidc-service-account-email=" + account,
					"--oidc-token-audience=reports",
				},
				map[string]any{
					"timeZone": "Asia/Tokyo", "description": "of the morning", "attemptDeadline": "240s",
					"retryConfig": map[string]any{
						"retryCount": 2.0, "maxRetryDuration": "7200s", "minBackoffDuration": "9s", "maxBackoffDuration": "1800s", "maxDoublings": 3.0,
					},
					"httpTarget": map[string]any{
						"uri": "https://example.com/b", "httpMethod": "PUT", "body": "dGV4dA==",
						"headers": map[string]any{
							"User-Agent": "Google-Cloud-Scheduler", "Authorization": "", "Content-Type": "application/octet-stream", "X-Team": "other", "X-B": "b",
						},
						"oidcToken": map[string]any{"serviceAccountEmail": account, "audience": "reports"},
					},
				},
			},
			{
				"update",
				[]string{
					"--clear-time-zone", "--clear-max-retry-attempts", "--clear-max-retry-duration", "--clear-min-backoff", "--clear-max-backoff",
					"--clear-max-doublings", "--clear-headers", "--clear-message-body", "--clear-auth-token",
				},
				map[string]any{
					"timeZone": "Etc/UTC", "retryConfig": defaultRetry(),
					"httpTarget": map[string]any{
						"uri": "https://example.com/b", "httpMethod": "PUT", "body": "dGV4dA==",
						"headers": map[string]any{"User-Agent": "Google-Cloud-Scheduler", "Content-Type": "application/octet-stream"},
					},
				},
			},
		},
		"pubsub": {
			{
				"create",
				[]string{"--schedule=0 3 * * *", "--topic=runs", "--message-body=text", "--attributes=a=1,b=2"},
				map[string]any{
					"state": "ENABLED", "schedule": "0 3 * * *", "timeZone": "Etc/UTC", "retryConfig": defaultRetry(),
					"pubsubTarget": map[string]any{
						"topicName": "projects/acme-prod/topics/runs", "data": "dGV4dA==", "attributes": map[string]any{"a": "1", "b": "2"},
					},
				},
			},
			{
				"update",
				[]string{"--topic=others", "--message-body-from-file=" + body, "--update-attributes=a=3", "--remove-attributes=b"},
				map[string]any{"pubsubTarget": map[string]any{
					"topicName": "projects/acme-prod/topics/others", "data": "eyJiIjoyfQ==", "attributes": map[string]any{"a": "3"},
				}},
			},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			cloud, config := manual(t), t.TempDir()
			want := map[string]any{"name": nightly}

			for _, step := range steps {
				args := append([]string{step.name, kind, "nightly-report", "--format=json"}, step.args...)

				text, err := gcloud(t, cloud, config, args...)
				if err != nil {
					t.Fatalf("gcloud %s: %v\n%s", strings.Join(args, " "), err, text)
				}

				var printed map[string]any

				_, object, _ := strings.Cut("\n"+text, "\n{")
				if err := json.NewDecoder(strings.NewReader("{" + object)).Decode(&printed); err != nil {
					t.Fatalf("%v in %s", err, text)
				}

				maps.Copy(want, step.want)

				// Times are the cloud's affair.
				delete(printed, "scheduleTime")
				delete(printed, "userUpdateTime")

				if diff := cmp.Diff(want, printed); diff != "" {
					t.Errorf("gcloud %s (-want +got):\n%s", strings.Join(args, " "), diff)
				}
			}
		})
	}
}

func defaultRetry() map[string]any {
	return map[string]any{"maxRetryDuration": "0s", "minBackoffDuration": "5s", "maxBackoffDuration": "3600s", "maxDoublings": 5.0}
}
