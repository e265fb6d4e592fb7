package workflowsforward_test

import (
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/workflowsforward"
)

func TestWorkflowsThatCannotBeStartedAreRefused(t *testing.T) {
	t.Parallel()
	const name = "projects/acme/locations/europe-west1/workflows/report"
	client := workflowsforward.New(nil)
	for reason, w := range map[string]workflowsforward.Workflow{
		"write it like projects/PROJECT": {Name: "report"},
		"no JSON object":                 {Name: name, Argument: "[1]"},
		"JSON object: write":             {Name: name, Argument: "null"},
		"a field run":                    {Name: name, Argument: `{"run": 1}`},
		"hand over a reference":          {Name: name, Argument: `{"a": "` + strings.Repeat("x", 32<<10) + `"}`},
	} {
		if _, err := client.Workflow(w); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want: …%s…", err, reason)
		}
	}
	if target, err := client.Workflow(workflowsforward.Workflow{Name: name, Argument: `{"a": 1}`}); err != nil || target.String() != name {
		t.Error(target, err)
	}
}
