package acctest

import (
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// Project and Region are those of the provider block that Config writes.
const (
	Project = "acme-prod"
	Region  = "europe-west1"
)

// Cloud starts a local cloud that ends with the test. Without a command line tool the test is skipped, or fails where the tool is
// required.
func Cloud(t *testing.T) *localcloud.Cloud {
	t.Helper()
	if os.Getenv("TF_ACC_TERRAFORM_PATH") == "" {
		engines.Terraform(t)
	}
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close the local cloud: %v", err)
		}
	})
	return cloud
}

// Factories serve the provider in this process.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"idempotent": func() (tfprotov6.ProviderServer, error) { return provider.Server("dev"), nil },
	}
}

// Config is a configuration with a provider block for the cloud and the given resources.
func Config(cloud *localcloud.Cloud, resources string) string {
	return fmt.Sprintf(`
terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

provider "idempotent" {
  project                         = %q
  region                          = %q
  cloud_scheduler_custom_endpoint = "%s/v1/"
  firestore_custom_endpoint       = "%[3]s/v1/"
}
%s`, Project, Region, cloud.URL(), resources)
}
