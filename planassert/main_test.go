package planassert_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// TestMain runs the tests with Terraform of the machine, and without what the machine says about it.
func TestMain(m *testing.M) {
	path := os.Getenv("IDEMPOTENT_TEST_TERRAFORM")
	if path == "" {
		path = "terraform"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		found = ""
	}
	for name, value := range map[string]string{
		"TF_ACC_TERRAFORM_PATH": found, "CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": os.DevNull, "TF_LOG_SDK": "off",
		"TF_ACC_PROVIDER_NAMESPACE": "idempotent-jobs", "GOOGLE_PROJECT": "", "GOOGLE_REGION": "", "GOOGLE_CREDENTIALS": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(engines.Main(m))
}
