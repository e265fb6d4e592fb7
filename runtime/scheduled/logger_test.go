package scheduled_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

func TestLoggerWritesWhatCloudLoggingParses(t *testing.T) {
	t.Parallel()
	for level, severity := range map[slog.Level]string{
		slog.LevelInfo: "INFO", slog.LevelInfo + 1: "INFO", slog.LevelWarn: "WARNING", slog.LevelError: "ERROR", slog.LevelError + 4: "ERROR",
	} {
		var out bytes.Buffer
		scheduled.NewLogger(&out, project).With("a", 1).WithGroup("g").Log(t.Context(), level, "hello", "msg", "inner", "level", 3)
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		group, _ := line["g"].(map[string]any)
		if line["severity"] != severity || line["message"] != "hello" || line["time"] == nil || line["a"] != 1.0 || group["msg"] != "inner" || group["level"] != 3.0 {
			t.Errorf("level %v is logged as %s", level, out.String())
		}
	}
	var out bytes.Buffer
	scheduled.NewLogger(&out, project).Debug("quiet")
	if out.Len() > 0 {
		t.Errorf("debug lines are logged: %s", out.String())
	}
}

func TestLinesCarryTheTraceOfTheDelivery(t *testing.T) {
	t.Parallel()
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for name, test := range map[string]struct {
		project string
		headers map[string]string
		want    map[string]any // trace, span, sampled
	}{
		"traceparent":             {project, map[string]string{"traceparent": "00-" + id + "-" + span + "-01"}, map[string]any{"trace": "projects/acme-prod/traces/" + id, "spanId": span, "trace_sampled": true}},
		"not sampled":             {project, map[string]string{"traceparent": "00-" + id + "-" + span + "-00"}, map[string]any{"trace": "projects/acme-prod/traces/" + id, "spanId": span, "trace_sampled": false}},
		"Google's":                {project, map[string]string{"X-Cloud-Trace-Context": id + "/67667974448284343;o=1"}, map[string]any{"trace": "projects/acme-prod/traces/" + id, "spanId": span, "trace_sampled": true}},
		"Google's id":             {"", map[string]string{"X-Cloud-Trace-Context": id}, map[string]any{"trace": id, "trace_sampled": false}},
		"both":                    {"", map[string]string{"traceparent": "00-" + id + "-" + span + "-01", "X-Cloud-Trace-Context": "ffffffffffffffffffffffffffffffff/1"}, map[string]any{"trace": id, "spanId": span, "trace_sampled": true}},
		"sampled by another flag": {project, map[string]string{"traceparent": "00-" + id + "-" + span + "-02"}, map[string]any{"trace": "projects/acme-prod/traces/" + id, "spanId": span, "trace_sampled": false}},
		"no such version":         {"", map[string]string{"traceparent": "ff-" + id + "-" + span + "-01"}, map[string]any{}},
		"Google's, not sampled":   {"", map[string]string{"X-Cloud-Trace-Context": id + "/67667974448284343;o=0"}, map[string]any{"trace": id, "spanId": span, "trace_sampled": false}},
		"Google's, without span":  {"", map[string]string{"X-Cloud-Trace-Context": strings.ToUpper(id) + "/0;o=1"}, map[string]any{"trace": id, "trace_sampled": true}},
		"malformed":               {"", map[string]string{"traceparent": "00-xyz-1-01", "X-Cloud-Trace-Context": "abc"}, map[string]any{}},
		"all zeros":               {"", map[string]string{"traceparent": "00-00000000000000000000000000000000-" + span + "-01"}, map[string]any{}},
		"none":                    {"", nil, map[string]any{}},
	} {
		var out lockedBuffer
		logger := scheduled.NewLogger(&out, test.project)
		f := newFixture(t, func(c *scheduled.Config) { c.Logger = logger })
		f.works(func(ctx context.Context) error {
			logger.WithGroup("g").InfoContext(ctx, "working")
			return nil
		})
		f.want(t, deliver(due(), func(h http.Header) {
			for k, v := range test.headers {
				h.Set(k, v)
			}
		}), 200, claim.OutcomeExecuted)
		lines := bytes.Split(bytes.TrimSpace([]byte(out.String())), []byte("\n"))
		if len(lines) != 2 {
			t.Fatalf("%s: want a line of the work and one of the handler, got %s", name, out.String())
		}
		for _, text := range lines {
			var line map[string]any
			if err := json.Unmarshal(text, &line); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"trace", "spanId", "trace_sampled"} {
				if got := line["logging.googleapis.com/"+field]; got != test.want[field] {
					t.Errorf("%s: %s is %v in %s; want %v", name, field, got, text, test.want[field])
				}
			}
		}
	}
}
