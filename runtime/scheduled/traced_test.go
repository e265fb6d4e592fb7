package scheduled_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

func TestLinesOfOtherHandlersCarryTheTraceToo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := scheduled.NewLogger(&out, project)
	handler := scheduled.Traced(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { logger.InfoContext(r.Context(), "here") }))
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if want := `"logging.googleapis.com/trace":"projects/acme-prod/traces/4bf92f3577b34da6a3ce929d0e0e4736"`; !strings.Contains(out.String(), want) {
		t.Errorf("logged %s, want it to hold %s", out.String(), want)
	}
}
