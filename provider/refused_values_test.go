package provider_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	frameworkprovider "github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// refusals are provider blocks that are refused before any request, with the whole message.
func refusals() map[string]struct {
	block acctest.Object
	want  string
} {
	return map[string]struct {
		block acctest.Object
		want  string
	}{
		"project": {acctest.Object{"project": "acme/prod"}, `AttributeName("project")
project of the provider: "acme/prod" is not a project
Set it to a project id, which matches [A-Za-z0-9:.-]{1,300}.`},
		"region": {acctest.Object{"region": "Europe West"}, `AttributeName("region")
region of the provider: "Europe West" is not a region
Set it to a region, which matches [a-z0-9-]{1,63}, such as europe-west1.`},
		"credentials": {acctest.Object{"credentials": "/no/such/key.json"}, `AttributeName("credentials")
credentials of the provider cannot be used
credentials is neither a JSON key nor the path of a readable file: pass the file's content or its path.`},
		"access_token": {acctest.Object{"access_token": "two words"}, `AttributeName("access_token")
access_token of the provider cannot be used
It holds a space or a line break, which no token does. Pass the token alone, for example the output of ` + "`gcloud auth print-access-token`" + ` without its line break.`},
		"impersonate_service_account": {acctest.Object{"impersonate_service_account": "deployer"}, `AttributeName("impersonate_service_account")
impersonate_service_account of the provider: "deployer" is not an address
Name the service account by its address, NAME@PROJECT.iam.gserviceaccount.com.`},
		"impersonate_service_account_delegates": {
			acctest.Object{"impersonate_service_account_delegates": []string{"deployer"}},
			`AttributeName("impersonate_service_account_delegates").ElementKeyInt(0)
impersonate_service_account_delegates of the provider: "deployer" is not an address
Name the service account by its address, NAME@PROJECT.iam.gserviceaccount.com.`,
		},
		"scopes": {acctest.Object{"scopes": []string{"cloud-platform"}}, `AttributeName("scopes").ElementKeyInt(0)
scopes of the provider: "cloud-platform" is not a scope
Write the whole scope, such as https://www.googleapis.com/auth/cloud-platform.`},
		"billing_project": {acctest.Object{"billing_project": "acme/billing"}, `AttributeName("billing_project")
billing_project of the provider: "acme/billing" is not a project
Set it to a project id, which matches [A-Za-z0-9:.-]{1,300}.`},
		"universe_domain": {acctest.Object{"universe_domain": "https://example.com/"}, `AttributeName("universe_domain")
universe_domain of the provider: "https://example.com/" is not a domain
Write the domain alone, such as googleapis.com.`},
		"cloud_scheduler_custom_endpoint": {
			acctest.Object{"cloud_scheduler_custom_endpoint": "http://scheduler.example.com/v1/"},
			`AttributeName("cloud_scheduler_custom_endpoint")
cloud_scheduler_custom_endpoint of the provider cannot be used
"http://scheduler.example.com/v1/" would send credentials in clear text: write https, or use a loopback address.`,
		},
		"firestore_custom_endpoint": {acctest.Object{"firestore_custom_endpoint": "ftp://127.0.0.1/"}, `AttributeName("firestore_custom_endpoint")
firestore_custom_endpoint of the provider cannot be used
"ftp://127.0.0.1/" is not an endpoint: the scheme ftp is neither https nor, for a loopback address, http.`},
		"request_timeout": {acctest.Object{"request_timeout": "soon"}, `AttributeName("request_timeout")
request_timeout of the provider is not a duration
"soon" cannot be used. Write a number above zero and a unit, such as "30s" or "2m".`},
	}
}

func TestProviderBlockIsRefusedInFull(t *testing.T) {
	t.Parallel()
	for attribute, refused := range refusals() {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			diagnostics := acctest.NewProtocol(t).Configure(t, refused.block)
			if len(diagnostics) != 1 {
				t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
			}
			if diff := cmp.Diff(refused.want, acctest.Text(diagnostics[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachProviderAttributeHasARefusedValue(t *testing.T) {
	t.Parallel()
	var resp frameworkprovider.SchemaResponse
	provider.New("dev")().Schema(context.Background(), frameworkprovider.SchemaRequest{}, &resp)
	tested := refusals()
	for attribute := range resp.Schema.Attributes {
		// It takes either truth value; the tool refuses everything else.
		if _, ok := tested[attribute]; !ok && attribute != "user_project_override" {
			t.Errorf("%s has no refused value in the table", attribute)
		}
	}
}
