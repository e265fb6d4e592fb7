package localcloud_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestNullMeansUnset(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	code, got := call(t, cloud, "POST", "/v1/"+parent+"/jobs", `{"name": "`+nightly+`", "schedule": "* * * * *", "description": null,
		"httpTarget": {"uri": "http://127.0.0.1:1/null", "headers": {"X-A": null, "X-B": "b"}, "oidcToken": null}}`, nil)
	if code != http.StatusOK {
		t.Fatalf("%d %v", code, got)
	}

	target, _ := got["httpTarget"].(map[string]any)
	headers, _ := target["headers"].(map[string]any)

	if _, there := headers["X-A"]; there || headers["X-B"] != "b" || target["uri"] != "http://127.0.0.1:1/null" {
		t.Errorf("stored: %v", got)
	}

	code, got = call(t, cloud, "POST", "/v1/"+parent+"/jobs", `{"schedule": null,`, nil)

	inner, _ := got["error"].(map[string]any)
	if text, _ := inner["message"].(string); code != http.StatusBadRequest || !strings.HasPrefix(text, "Invalid JSON payload received") {
		t.Errorf("half a payload: %d %v", code, got)
	}
}
