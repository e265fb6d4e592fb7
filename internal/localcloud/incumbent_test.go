package localcloud_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// incumbent sends what hashicorp/google's google_cloud_scheduler_job and google_firestore_field send, in the same order. Their binary
// cannot be had from a Go module proxy, so their requests stand in for it: POST and PATCH with ?alt=json and the whole object, PATCH of
// a job without a mask, :resume or :pause after each create and update, fields with both parts in the mask, and operations polled.
type incumbent struct {
	t     *testing.T
	cloud *localcloud.Cloud
}

func (p incumbent) send(method, path, body string) (int, map[string]any) {
	p.t.Helper()

	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}

	return call(p.t, p.cloud, method, "/v1/"+path+separator+"alt=json", body, http.Header{
		"User-Agent": {"Terraform/1.11.4 (+https://www.terraform.io) terraform-provider-google/6.0.0"}, "Authorization": {"Bearer unused"},
	})
}

func (p incumbent) must(method, path, body string) map[string]any {
	p.t.Helper()

	code, got := p.send(method, path, body)
	if code != http.StatusOK {
		p.t.Fatalf("%s %s: %d %v", method, path, code, got)
	}

	return got
}

// planned checks that a read gives back all that was sent: the second plan is empty. The provider ignores the headers that the server
// adds.
func (p incumbent) planned(sent string) {
	p.t.Helper()

	var want map[string]any
	if err := json.Unmarshal([]byte(sent), &want); err != nil {
		p.t.Fatal(err)
	}

	got := p.must("GET", nightly, "")

	if target, found := got["httpTarget"].(map[string]any); found {
		if headers, there := target["headers"].(map[string]any); there {
			for name := range headers {
				if name == "User-Agent" || name == "Authorization" || name == "Content-Type" {
					delete(headers, name)
				}
			}

			if len(headers) == 0 {
				delete(target, "headers")
			}
		}
	}

	for name := range got {
		if _, sent := want[name]; !sent {
			delete(got, name)
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("the second plan is not empty (-sent +read):\n%s", diff)
	}
}

func TestJobsOfTheIncumbentProviderLiveHere(t *testing.T) {
	t.Parallel()

	p := incumbent{t, manual(t)}

	const job = `{"name": "` + nightly + `", "description": "of the night", "schedule": "*/8 * * * *", "timeZone": "America/New_York",
		"attemptDeadline": "320s", "retryConfig": {"retryCount": 1, "maxRetryDuration": "0s", "minBackoffDuration": "5s",
		"maxBackoffDuration": "3600s", "maxDoublings": 5}, "httpTarget": {"uri": "https://example.com/ping", "httpMethod": "POST",
		"body": "eyJmb28iOiJiYXIifQ==", "headers": {"X-Team": "billing"}, "oidcToken": {"serviceAccountEmail": "` + account + `",
		"audience": "https://example.com/ping"}}}`

	p.must("POST", parent+"/jobs", job)
	p.must("POST", nightly+":resume", "{}")
	p.planned(job)

	// Created again by mistake, as after a lost state.
	if code, got := p.send("POST", parent+"/jobs", job); code != http.StatusConflict {
		t.Errorf("a second create: %d %v", code, got)
	}

	// The whole job, but for its name, replaces the stored one: what is left out is gone, and defaults return.
	const changed = `{"schedule": "*/9 * * * *", "timeZone": "America/New_York",
		"httpTarget": {"uri": "https://example.com/pong", "httpMethod": "GET"}}`

	p.must("PATCH", nightly, changed)
	p.must("POST", nightly+":pause", "{}")
	p.planned(changed)

	got := p.must("GET", nightly, "")
	if got["state"] != "PAUSED" || got["description"] != nil || got["attemptDeadline"] != "180s" {
		t.Errorf("after the update: %v", got)
	}

	target, _ := got["httpTarget"].(map[string]any)
	if target["oidcToken"] != nil || target["body"] != nil {
		t.Errorf("after the update: %v", got)
	}

	// Paused again, as each apply of a paused job does: the provider lives with the refusal of the API.
	if code, got := p.send("POST", nightly+":pause", "{}"); code != http.StatusBadRequest {
		t.Errorf("a second pause: %d %v", code, got)
	}

	p.must("POST", nightly+":resume", "{}")
	p.must("DELETE", nightly, "")

	code, got := p.send("GET", nightly, "")

	inner, _ := got["error"].(map[string]any)
	if code != http.StatusNotFound || inner["status"] != "NOT_FOUND" || inner["message"] != "Job not found." {
		t.Errorf("after the destroy: %d %v", code, got)
	}
}

func TestFieldsOfTheIncumbentProviderLiveHere(t *testing.T) {
	t.Parallel()

	p := incumbent{t, start(t, localcloud.Config{OperationTime: 50 * time.Millisecond})}

	wait := func(operation map[string]any) {
		t.Helper()

		for deadline := time.Now().Add(10 * time.Second); operation["done"] != true; {
			if time.Now().After(deadline) {
				t.Fatalf("not done after 10 s: %v", operation)
			}

			name, _ := operation["name"].(string)
			operation = p.must("GET", name, "")
		}

		if operation["error"] != nil {
			t.Fatalf("operation: %v", operation)
		}
	}
	mask := expireAt + "?updateMask=indexConfig%2CttlConfig"

	wait(p.must("PATCH", mask, `{"name": "`+expireAt+`", "ttlConfig": {}, "indexConfig": {"indexes": []}}`))

	got := p.must("GET", expireAt, "")
	ttl, _ := got["ttlConfig"].(map[string]any)
	index, _ := got["indexConfig"].(map[string]any)

	if ttl["state"] != "ACTIVE" || index == nil || index["indexes"] != nil || index["usesAncestorConfig"] != nil {
		t.Errorf("after the create: %v", got)
	}

	// Destroy asks for both parts and gives neither: the field inherits again.
	wait(p.must("PATCH", mask, `{}`))

	got = p.must("GET", expireAt, "")
	index, _ = got["indexConfig"].(map[string]any)

	if got["ttlConfig"] != nil || index["usesAncestorConfig"] != true {
		t.Errorf("after the destroy: %v", got)
	}
}
