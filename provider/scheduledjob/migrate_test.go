package scheduledjob_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

// A state that the incumbent wrote is migrated by the command line, and applied by a real tool: the jobs are changed in place, and
// then nothing is left to do.
func TestJobsOfTheIncumbentAreMigratedByARealTool(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	w := acctest.NewWorkspace(t)
	keys := []string{"daily", "weekly"}
	state := stateOfJobs(t, cloud, keys)
	w.Write(t, "terraform.tfstate", state)

	command := cli.New("dev")
	var written bytes.Buffer
	command.SetIn(strings.NewReader(state))
	command.SetOut(&written)
	command.SetArgs([]string{"migrate", "-"})
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "main.tf", acctest.Config(cloud, written.String()))
	w.Run(t, "init", "-input=false")
	if output := w.Run(t, "plan", "-input=false", "-no-color"); !strings.Contains(output, "0 to add, 2 to change, 0 to destroy") {
		t.Errorf("the plan is another:\n%s\n%s", output, written.String())
	}
	w.Run(t, "apply", "-input=false", "-auto-approve", "-no-color")
	if output := w.Run(t, "plan", "-input=false", "-no-color"); !strings.Contains(output, "No changes.") {
		t.Errorf("the second plan is not empty:\n%s", output)
	}
	for _, key := range keys {
		live, err := cloud.Job("projects/acme-prod/locations/europe-west1/jobs/" + key)
		if err != nil || live.GetHttpTarget().GetHeaders()["X-Idempotent-Policy"] == "" || live.GetRetryConfig().GetRetryCount() != 2 {
			t.Errorf("%s is not observed as it was: %v, %v", key, live, err)
		}
	}
}

// stateOfJobs makes jobs in the cloud, and the state that hashicorp/google would hold of them as instances of one for_each.
func stateOfJobs(t *testing.T, cloud *localcloud.Cloud, keys []string) string {
	t.Helper()
	var instances []any
	for i, key := range keys {
		at := jobs.Name{Project: acctest.Project, Region: acctest.Region, Job: key}
		schedule := fmt.Sprintf("0 %d * * *", i+3)
		if _, err := client(cloud).Create(t.Context(), at, &schedulerpb.Job{
			Name: at.String(), Schedule: schedule, TimeZone: "Etc/UTC", RetryConfig: &schedulerpb.RetryConfig{RetryCount: 2},
			Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
				Uri: "https://reports-abc.a.run.app/run", HttpMethod: schedulerpb.HttpMethod_POST,
				AuthorizationHeader: &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
					ServiceAccountEmail: "scheduler@acme-prod.iam.gserviceaccount.com", Audience: "https://reports-abc.a.run.app",
				}},
			}},
		}); err != nil {
			t.Fatal(err)
		}
		var attributes object
		if err := json.Unmarshal(incumbentState(t, "plain"), &attributes); err != nil {
			t.Fatal(err)
		}
		attributes["id"], attributes["name"], attributes["schedule"] = at.String(), key, schedule
		attributes["retry_config"] = []object{{
			"retry_count": 2, "max_retry_duration": "0s", "min_backoff_duration": "5s", "max_backoff_duration": "3600s", "max_doublings": 5,
		}}
		instances = append(instances, object{"index_key": key, "schema_version": 0, "attributes": attributes})
	}
	text, err := json.Marshal(object{
		"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "6f1f9d5c-4b3a-4d6e-9a55-0d0f6c1f0001", "outputs": object{},
		"resources": []object{{
			"mode": "managed", "type": incumbentType, "name": "jobs", "provider": `provider["registry.terraform.io/hashicorp/google"]`,
			"instances": instances,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
