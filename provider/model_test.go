package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestProviderBlockFallsBackToTheEnvironment(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	got, unknown := model{Region: types.StringValue("us-central1")}.settings(environment(map[string]string{
		"GOOGLE_CLOUD_PROJECT": "acme-prod", "CLOUDSDK_CORE_PROJECT": "other", "GOOGLE_REGION": "europe-west1",
		"GOOGLE_OAUTH_ACCESS_TOKEN": "token", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "deployer@acme-prod.iam.gserviceaccount.com",
		"GOOGLE_BILLING_PROJECT": "acme-billing", "USER_PROJECT_OVERRIDE": "true",
		"GOOGLE_CLOUD_SCHEDULER_CUSTOM_ENDPOINT": "http://127.0.0.1:1/v1/", "GOOGLE_FIRESTORE_CUSTOM_ENDPOINT": "http://127.0.0.1:2/v1/",
	}), &diags)
	if diags.HasError() || len(unknown) > 0 {
		t.Fatal(diags, unknown)
	}
	if got.Project != "acme-prod" || got.Region != "us-central1" || got.AccessToken != "token" || !got.UserProjectOverride ||
		got.BillingProject != "acme-billing" || got.Impersonate != "deployer@acme-prod.iam.gserviceaccount.com" ||
		got.SchedulerEndpoint != "http://127.0.0.1:1/v1/" || got.FirestoreEndpoint != "http://127.0.0.1:2/v1/" {
		t.Errorf("got %+v", got)
	}
}

func TestCredentialsOfTheBlockWinOverATokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	got, _ := model{Credentials: types.StringValue("{}")}.settings(environment(map[string]string{"GOOGLE_OAUTH_ACCESS_TOKEN": "token"}), &diags)
	if got.AccessToken != "" || got.Credentials != "{}" {
		t.Errorf("the token won: %v", diags)
	}
}

func TestWhatTheBlockDoesNotKnowYetIsUnknown(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	got, unknown := model{Project: types.StringUnknown()}.settings(environment(map[string]string{"GOOGLE_PROJECT": "other"}), &diags)
	if got.Project != "" || len(unknown) != 1 || unknown[0] != "project" {
		t.Errorf("got %q, unknown %v", got.Project, unknown)
	}
}

func TestEnvironmentThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	model{}.settings(environment(map[string]string{"USER_PROJECT_OVERRIDE": "perhaps"}), &diags)
	if len(diags) != 1 || diags[0].Summary() != "USER_PROJECT_OVERRIDE of the environment cannot be read" ||
		diags[0].Detail() != `"perhaps" is neither true nor false. Set it to one of them, or set user_project_override in the provider block.` {
		t.Error(diags)
	}
}
