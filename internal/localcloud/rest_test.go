package localcloud_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// call makes one REST call and returns the status and the decoded body.
func call(t *testing.T, cloud *localcloud.Cloud, method, path, body string, header http.Header) (int, map[string]any) {
	t.Helper()

	req, err := http.NewRequestWithContext(limited(t), method, cloud.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}

	maps.Copy(req.Header, header)

	req.Host = header.Get("Host")
	req.Header.Del("Host")

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()

	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}

	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s %s answers %d with %q: %v", method, path, resp.StatusCode, raw, err)
	}

	return resp.StatusCode, out
}

const minimal = `{"name": "` + nightly + `", "schedule": "0 3 * * *", "httpTarget": {"uri": "http://127.0.0.1:1/"}}`

func TestRESTTakesSystemParametersAndLeavesZerosOut(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	code, got := call(t, cloud, "POST",
		"/v1/"+parent+"/jobs?alt=json&$alt=json;enum-encoding=int&key=k&fields=name&prettyPrint=false&quotaUser=u", minimal,
		http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "Accept-Encoding": {"gzip"}, "X-Server-Timeout": {"60"}})

	want := map[string]any{
		"name": nightly, "schedule": "0 3 * * *", "timeZone": "Etc/UTC", "state": "ENABLED",
		"userUpdateTime": "2026-10-16T12:00:00Z", "scheduleTime": "2026-10-17T03:00:00Z", "attemptDeadline": "180s",
		"httpTarget": map[string]any{
			"uri": "http://127.0.0.1:1/", "httpMethod": "POST", "headers": map[string]any{"User-Agent": "Google-Cloud-Scheduler"},
		},
		"retryConfig": map[string]any{
			"maxRetryDuration": "0s", "minBackoffDuration": "5s", "maxBackoffDuration": "3600s", "maxDoublings": 5.0,
		},
	}
	if diff := cmp.Diff(want, got); code != 200 || diff != "" {
		t.Errorf("%d (-want +got):\n%s", code, diff)
	}
}

func TestRESTMasksMayBeSpelledEitherWay(t *testing.T) {
	t.Parallel()

	for _, mask := range []string{"updateMask=httpTarget.uri,timeZone", "updateMask=http_target.uri,time_zone", "update_mask=httpTarget.uri%2Ctime_zone"} {
		cloud := manual(t)
		call(t, cloud, "POST", "/v1/"+parent+"/jobs", minimal, nil)

		code, got := call(t, cloud, "PATCH", "/v1/"+nightly+"?"+mask,
			`{"timeZone": "Europe/Berlin", "schedule": "9 9 * * *", "httpTarget": {"uri": "http://127.0.0.1:1/new"}}`, nil)
		target, _ := got["httpTarget"].(map[string]any)

		if code != 200 || got["timeZone"] != "Europe/Berlin" || got["schedule"] != "0 3 * * *" || target["uri"] != "http://127.0.0.1:1/new" {
			t.Errorf("%s: %d %v", mask, code, got)
		}
	}
}

func TestRESTErrorsAreInTheEnvelopeOfGoogle(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	cloud.FailNext("ListJobs", 8, "Quota exceeded.", 1)

	for name, tc := range map[string]struct {
		method, path, body string
		header             http.Header
		code               int
		status, message    string
	}{
		"missing job":          {"GET", "/v1/" + nightly, "", nil, 404, "NOT_FOUND", "Job not found."},
		"pause without a body": {"POST", "/v1/" + nightly + ":pause", "", nil, 404, "NOT_FOUND", "Job not found."},
		"quota":                {"GET", "/v1/" + parent + "/jobs", "", nil, 429, "RESOURCE_EXHAUSTED", "Quota exceeded."},
		"unknown field": {
			"POST", "/v1/" + parent + "/jobs", `{"nmae": 1}`, nil, 400, "INVALID_ARGUMENT",
			`Invalid JSON payload received: (line 1:2): unknown field "nmae"`,
		},
		"no JSON": {
			"POST", "/v1/" + parent + "/jobs", `schedule: 3`, nil, 400, "INVALID_ARGUMENT",
			`Invalid JSON payload received: syntax error (line 1:1): invalid value schedule`,
		},
		"content type": {
			"POST", "/v1/" + parent + "/jobs", `x`, http.Header{"Content-Type": {"text/plain"}}, 400, "INVALID_ARGUMENT",
			"The content type must be application/json.",
		},
		"unknown parameter": {
			"GET", "/v1/" + nightly + "?force=1", "", nil, 400, "INVALID_ARGUMENT",
			`Invalid JSON payload received. Unknown name "force": Cannot bind query parameter. ` +
				`Field 'force' could not be found in request message.`,
		},
		"too much": {
			"POST", "/v1/" + parent + "/jobs", `{"description": "` + strings.Repeat("x", 4<<20) + `"}`, nil, 400, "INVALID_ARGUMENT",
			"Request payload size exceeds the limit: 4194304 bytes.",
		},
		"method that there is not": {"PUT", "/v1/" + nightly, "{}", nil, 404, "NOT_FOUND", "The local cloud does not serve PUT /v1/" + nightly + "."},
		"unknown path":             {"GET", "/v1/nothing", "", nil, 404, "NOT_FOUND", "The local cloud does not serve GET /v1/nothing."},
		"a name that was rebound": {
			"GET", "/v1/" + nightly, "", http.Header{"Host": {"attacker.example"}}, 403, "PERMISSION_DENIED",
			`The local cloud answers only to loopback names, not to "attacker.example".`,
		},
		"control path": {"GET", "/local/nothing", "", nil, 404, "NOT_FOUND", "The local cloud does not serve GET /local/nothing."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			code, got := call(t, cloud, tc.method, tc.path, tc.body, tc.header)
			want := map[string]any{"error": map[string]any{"code": float64(tc.code), "status": tc.status, "message": tc.message}}

			if diff := cmp.Diff(want, got); code != tc.code || diff != "" {
				t.Errorf("%d (-want +got):\n%s", code, diff)
			}
		})
	}
}
