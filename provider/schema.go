package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema lays out the provider block: the attributes of hashicorp/google that have a meaning here, with the same names and the same
// environment fall-backs.
func (*Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	list := func(description string) schema.ListAttribute {
		return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	secret := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Scheduled jobs of which every run has one effect: Cloud Scheduler, the expiry of claim records and the " +
			"handler agree, and what cannot work is refused at plan time.",
		Attributes: map[string]schema.Attribute{
			"project": text("The project of resources that name none. Environment: `GOOGLE_PROJECT`, `GOOGLE_CLOUD_PROJECT`, " +
				"`GCLOUD_PROJECT`, `CLOUDSDK_CORE_PROJECT`."),
			"region": text("The region of resources that name none. Environment: `GOOGLE_REGION`, `GCLOUD_REGION`, " +
				"`CLOUDSDK_COMPUTE_REGION`."),
			"credentials": secret("A service account key or another credentials file, as JSON or as a path. Unset: application default " +
				"credentials. Environment: `GOOGLE_CREDENTIALS`, `GOOGLE_CLOUD_KEYFILE_JSON`, `GCLOUD_KEYFILE_JSON`."),
			"access_token":                          secret("An OAuth access token, used as it is. Environment: `GOOGLE_OAUTH_ACCESS_TOKEN`."),
			"impersonate_service_account":           text("The service account to act as. Environment: `GOOGLE_IMPERSONATE_SERVICE_ACCOUNT`."),
			"impersonate_service_account_delegates": list("The chain of accounts that leads to `impersonate_service_account`."),
			"scopes":                                list("The OAuth scopes to ask for. Unset: `https://www.googleapis.com/auth/cloud-platform`."),
			"billing_project":                       text("The project whose quota requests use, with `user_project_override`. Environment: `GOOGLE_BILLING_PROJECT`."),
			"user_project_override": schema.BoolAttribute{
				Optional: true, MarkdownDescription: "Whether requests use the quota of `billing_project`, else of `project`, instead of the " +
					"credentials' own. Environment: `USER_PROJECT_OVERRIDE`.",
			},
			"universe_domain": text("The domain of the cloud. Unset: `googleapis.com`."),
			"cloud_scheduler_custom_endpoint": text("Where Cloud Scheduler is reached. A loopback address is spoken to in clear text and " +
				"without credentials. Environment: `GOOGLE_CLOUD_SCHEDULER_CUSTOM_ENDPOINT`."),
			"firestore_custom_endpoint": text("Where the Firestore Admin API is reached, likewise. Environment: " +
				"`GOOGLE_FIRESTORE_CUSTOM_ENDPOINT`."),
			"request_timeout": text("How long one request may take, retries apart, such as `30s`. Unset: `120s`."),
		},
	}
}
