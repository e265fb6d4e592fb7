package cloudbuildforward_test

import (
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/cloudbuildforward"
)

func TestTriggersThatCannotBeRunAreRefused(t *testing.T) {
	t.Parallel()
	const name = "projects/acme/locations/global/triggers/report"
	client := cloudbuildforward.New(nil)
	for reason, trigger := range map[string]cloudbuildforward.Trigger{
		"write it like projects/PROJECT": {Name: "report"},
		"exclude each other":             {Name: name, Branch: "main", Tag: "v1"},
		"_IDEMPOTENT_RUN_ID":             {Name: name, Substitutions: map[string]string{"_IDEMPOTENT_RUN_ID": "x"}},
		"begins with _":                  {Name: name, Substitutions: map[string]string{"TARGET": "x"}},
	} {
		if _, err := client.Trigger(trigger); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want: …%s…", err, reason)
		}
	}
	if target, err := client.Trigger(cloudbuildforward.Trigger{Name: name, Commit: "abc"}); err != nil || target.String() != name {
		t.Error(target, err)
	}
}
