package localcloud_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestControlAPISteersTheCloud(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	code, got := call(t, cloud, "POST", "/local/faults", `{"kind": "status", "status": 500, "times": 1, "job": "nightly-report"}`, nil)

	want := map[string]any{"faults": []any{
		map[string]any{"kind": "status", "status": 500.0, "times": 1.0, "job": "nightly-report"},
	}}
	if diff := cmp.Diff(want, got); code != 200 || diff != "" {
		t.Errorf("faults: %d (-want +got):\n%s", code, diff)
	}

	code, got = call(t, cloud, "POST", "/local/advance", `{"by": "6m"}`, nil)
	want = map[string]any{"now": "2026-10-16T12:06:00Z", "moved": true, "running": false}

	if diff := cmp.Diff(want, got); code != 200 || diff != "" {
		t.Errorf("advance: %d (-want +got):\n%s", code, diff)
	}

	code, got = call(t, cloud, "POST", "/local/fire", `{"job": "nightly-report", "at": "2026-10-16T11:00:00Z"}`, nil)
	if code != 200 {
		t.Errorf("fire: %d %v", code, got)
	}

	landed(t, cloud, 2)

	code, got = call(t, cloud, "GET", "/local/deliveries?job="+nightly, "", nil)

	list, _ := got["deliveries"].([]any)
	if code != 200 || len(list) != 2 {
		t.Fatalf("deliveries: %d %v", code, got)
	}

	first, _ := list[0].(map[string]any)
	second, _ := list[1].(map[string]any)

	if first["status"] != 500.0 || first["fault"] != "status" || second["scheduleTime"] != "2026-10-16T11:00:00Z" {
		t.Errorf("deliveries: %v", got)
	}

	code, got = call(t, cloud, "GET", "/local/requests", "", nil)

	calls, _ := got["requests"].([]any)
	if code != 200 || len(calls) != 1 {
		t.Errorf("requests: %d %v", code, got)
	}

	code, got = call(t, cloud, "POST", "/local/token", `{"account": "s@acme-prod.iam.gserviceaccount.com", "audience": "a"}`, nil)
	if token, _ := got["token"].(string); code != 200 || strings.Count(token, ".") != 2 {
		t.Errorf("token: %d %v", code, got)
	}

	call(t, cloud, "POST", "/local/faults", `{"kind": "delay", "delay": "1m30s", "times": -1}`, nil)

	code, got = call(t, cloud, "DELETE", "/local/faults", "", nil)
	if left, _ := got["faults"].([]any); code != 200 || len(left) != 0 {
		t.Errorf("faults after they were cleared: %d %v", code, got)
	}
}

func TestControlAPIRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	for name, tc := range map[string]struct {
		path, body string
		header     http.Header
		want       string
	}{
		"unknown fault": {"faults", `{"kind": "x"}`, nil, `fault kind "x" is unknown: use one of ["lost_reply" "duplicate" "delay" "slow_token" "reset" "status" "update_failed"]`},
		"unknown field": {"faults", `{"kin": "x"}`, nil, `read the request: decode a fault: json: unknown field "kin"`},
		"bad duration":  {"advance", `{"by": "soon"}`, nil, `read the request: "soon" is no duration: write it like 90s or 24h`},
		"backwards":     {"advance", `{"by": "-1h"}`, nil, "advance by -1h0m0s: time only moves forward"},
		"too far":       {"advance", `{"by": "2000000h"}`, nil, "advance by 2000000h0m0s: time ends at 2200-01-01 here"},
		"unknown job":   {"fire", `{"job": "x"}`, nil, `fire: job "x" does not exist in the local cloud`},
		"no audience":   {"token", `{"account": "a@b"}`, nil, "a token needs a service account and an audience"},
		"a form of a web page": {
			"advance", `{"by": "1h"}`, http.Header{"Content-Type": {"text/plain"}}, `content type is "text/plain": send application/json`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			code, got := call(t, cloud, "POST", "/local/"+tc.path, tc.body, tc.header)
			want := map[string]any{"error": map[string]any{"code": 400.0, "status": "INVALID_ARGUMENT", "message": tc.want}}

			if diff := cmp.Diff(want, got); code != 400 || diff != "" {
				t.Errorf("%d (-want +got):\n%s", code, diff)
			}
		})
	}

	if !cloud.Now().Equal(noon()) {
		t.Errorf("the clock moved by %s", cloud.Now().Sub(noon()).Round(time.Second))
	}
}
