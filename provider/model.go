package provider

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// model is the provider block.
type model struct {
	Project                            types.String `tfsdk:"project"`
	Region                             types.String `tfsdk:"region"`
	Credentials                        types.String `tfsdk:"credentials"`
	AccessToken                        types.String `tfsdk:"access_token"`
	ImpersonateServiceAccount          types.String `tfsdk:"impersonate_service_account"`
	ImpersonateServiceAccountDelegates types.List   `tfsdk:"impersonate_service_account_delegates"`
	Scopes                             types.List   `tfsdk:"scopes"`
	BillingProject                     types.String `tfsdk:"billing_project"`
	UserProjectOverride                types.Bool   `tfsdk:"user_project_override"`
	UniverseDomain                     types.String `tfsdk:"universe_domain"`
	CloudSchedulerCustomEndpoint       types.String `tfsdk:"cloud_scheduler_custom_endpoint"`
	FirestoreCustomEndpoint            types.String `tfsdk:"firestore_custom_endpoint"`
	RequestTimeout                     types.String `tfsdk:"request_timeout"`
}

// settings are the block's values, or those of the environment where it is silent, and the names of those that are not known yet.
func (m model) settings(getenv func(string) string, diags *diag.Diagnostics) (settings google.Settings, unknown []string) {
	text := func(attribute string, value types.String, variables ...string) string {
		if value.IsUnknown() {
			unknown = append(unknown, attribute)
			return ""
		}
		if value.ValueString() != "" {
			return value.ValueString()
		}
		for _, variable := range variables {
			if found := getenv(variable); found != "" {
				return found
			}
		}
		return ""
	}
	settings = google.Settings{
		Project: text("project", m.Project, "GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
		Region:  text("region", m.Region, "GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
		Credentials: text("credentials", m.Credentials,
			"GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON"),
		AccessToken:    text("access_token", m.AccessToken, "GOOGLE_OAUTH_ACCESS_TOKEN"),
		Impersonate:    text("impersonate_service_account", m.ImpersonateServiceAccount, "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"),
		Delegates:      known(m.ImpersonateServiceAccountDelegates),
		Scopes:         known(m.Scopes),
		BillingProject: text("billing_project", m.BillingProject, "GOOGLE_BILLING_PROJECT"),
		UniverseDomain: text("universe_domain", m.UniverseDomain),
		SchedulerEndpoint: text("cloud_scheduler_custom_endpoint", m.CloudSchedulerCustomEndpoint,
			"GOOGLE_CLOUD_SCHEDULER_CUSTOM_ENDPOINT"),
		FirestoreEndpoint: text("firestore_custom_endpoint", m.FirestoreCustomEndpoint, "GOOGLE_FIRESTORE_CUSTOM_ENDPOINT"),
	}
	// What the block says wins over the environment, also when the environment would win by order.
	if m.AccessToken.ValueString() == "" && m.Credentials.ValueString() != "" {
		settings.AccessToken = ""
	}
	checkProject("project", settings.Project, diags)
	checkProject("billing_project", settings.BillingProject, diags)
	checkSettings(settings, diags)
	settings.UserProjectOverride = m.userProjectOverride(getenv, diags)
	settings.RequestTimeout = m.requestTimeout(diags)
	return settings, unknown
}

func (m model) userProjectOverride(getenv func(string) string, diags *diag.Diagnostics) bool {
	if !m.UserProjectOverride.IsNull() {
		return m.UserProjectOverride.ValueBool()
	}
	const variable = "USER_PROJECT_OVERRIDE"
	text := getenv(variable)
	if text == "" {
		return false
	}
	override, err := strconv.ParseBool(text)
	if err != nil {
		diags.AddAttributeError(path.Root("user_project_override"), variable+" of the environment cannot be read",
			fmt.Sprintf("%q is neither true nor false. Set it to one of them, or set user_project_override in the provider block.", text))
	}
	return override
}

func (m model) requestTimeout(diags *diag.Diagnostics) time.Duration {
	if m.RequestTimeout.ValueString() == "" {
		return 0
	}
	timeout, err := time.ParseDuration(m.RequestTimeout.ValueString())
	if err != nil || timeout <= 0 {
		diags.AddAttributeError(path.Root("request_timeout"), "request_timeout of the provider is not a duration",
			fmt.Sprintf("%q cannot be used. Write a number above zero and a unit, such as \"30s\" or \"2m\".", m.RequestTimeout.ValueString()))
		return 0
	}
	return timeout
}

// known are the known elements of a list.
func known(list types.List) []string {
	var texts []string
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok && text.ValueString() != "" {
			texts = append(texts, text.ValueString())
		}
	}
	return texts
}
