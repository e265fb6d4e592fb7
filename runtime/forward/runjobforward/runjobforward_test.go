package runjobforward_test

import (
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/runjobforward"
)

func TestJobsThatCannotBeStartedAreRefused(t *testing.T) {
	t.Parallel()
	const name = "projects/acme/locations/europe-west1/jobs/report"
	client := runjobforward.New(nil, nil)
	for reason, j := range map[string]runjobforward.Job{
		"write it like projects/PROJECT": {Name: "report"},
		"IDEMPOTENT_RUN_ID":              {Name: name, Env: map[string]string{"IDEMPOTENT_RUN_ID": "x"}},
		"no name of a variable":          {Name: name, Env: map[string]string{"a b": "x"}},
		"tasks: it is -1":                {Name: name, Tasks: -1},
		"timeout: it is -1ns":            {Name: name, Timeout: -1},
	} {
		if _, err := client.Job(j); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want: …%s…", err, reason)
		}
	}
	if target, err := client.Job(runjobforward.Job{Name: name, Env: map[string]string{"A": "x"}}); err != nil || target.String() != name {
		t.Error(target, err)
	}
}
