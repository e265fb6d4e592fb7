package provider

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// checkSettings refuses what no request could succeed with, wherever it came from. Secrets are never repeated.
func checkSettings(settings google.Settings, diags *diag.Diagnostics) {
	checkRegion(settings.Region, diags)
	if err := settings.CheckCredentials(); err != nil && !settings.Loopback() {
		diags.AddAttributeError(path.Root("credentials"), "credentials of the provider cannot be used", err.Error()+".")
	}
	if strings.ContainsAny(settings.AccessToken, " \t\r\n") {
		diags.AddAttributeError(path.Root("access_token"), "access_token of the provider cannot be used",
			"It holds a space or a line break, which no token does. Pass the token alone, for example the output of "+
				"`gcloud auth print-access-token` without its line break.")
	}
	checkAddress(path.Root("impersonate_service_account"), "impersonate_service_account", settings.Impersonate, diags)
	for i, delegate := range settings.Delegates {
		const attribute = "impersonate_service_account_delegates"
		checkAddress(path.Root(attribute).AtListIndex(i), attribute, delegate, diags)
	}
	for i, scope := range settings.Scopes {
		if !strings.HasPrefix(scope, "https://") {
			diags.AddAttributeError(path.Root("scopes").AtListIndex(i), fmt.Sprintf("scopes of the provider: %q is not a scope", scope),
				"Write the whole scope, such as https://www.googleapis.com/auth/cloud-platform.")
		}
	}
	if strings.ContainsAny(settings.UniverseDomain, ":/ @") {
		diags.AddAttributeError(path.Root("universe_domain"),
			fmt.Sprintf("universe_domain of the provider: %q is not a domain", settings.UniverseDomain),
			"Write the domain alone, such as googleapis.com.")
	}
	checkEndpoint("cloud_scheduler_custom_endpoint", settings.SchedulerEndpoint, diags)
	checkEndpoint("firestore_custom_endpoint", settings.FirestoreEndpoint, diags)
}

func checkEndpoint(attribute, endpoint string, diags *diag.Diagnostics) {
	if _, err := google.ParseEndpoint(endpoint); err != nil {
		diags.AddAttributeError(path.Root(attribute), attribute+" of the provider cannot be used", err.Error()+".")
	}
}

func checkProject(attribute, project string, diags *diag.Diagnostics) {
	if bad, ok := errors.AsType[*run.NameError](run.CheckProject(project)); ok && project != "" {
		diags.AddAttributeError(path.Root(attribute), fmt.Sprintf("%s of the provider: %q is not a project", attribute, project),
			"Set it to a project id, which matches "+bad.Allowed+".")
	}
}

func checkRegion(region string, diags *diag.Diagnostics) {
	if bad, ok := errors.AsType[*run.NameError](run.CheckRegion(region)); ok && region != "" {
		diags.AddAttributeError(path.Root("region"), fmt.Sprintf("region of the provider: %q is not a region", region),
			"Set it to a region, which matches "+bad.Allowed+", such as europe-west1.")
	}
}

func checkAddress(at path.Path, attribute, address string, diags *diag.Diagnostics) {
	if address == "" {
		return
	}
	if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
		diags.AddAttributeError(at, fmt.Sprintf("%s of the provider: %q is not an address", attribute, address),
			"Name the service account by its address, NAME@PROJECT.iam.gserviceaccount.com.")
	}
}
