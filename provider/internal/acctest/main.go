// Package acctest is what acceptance tests share: a real command line tool, a local cloud in the process, and the provider in front
// of it. Only tests import it.
package acctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// envCLI names the binary that a child of the test process runs everything with again; see OnOpenTofu.
const envCLI = "IDEMPOTENT_ACCEPTANCE_CLI"

// cliConfig keeps the tool from asking the network for anything.
const cliConfig = "disable_checkpoint = true\n"

// Main runs the tests of a package with an environment of their own: what the machine says about Terraform or Google does not
// matter. Call it from TestMain.
func Main(m *testing.M) int {
	scratch, err := os.MkdirTemp("", "idempotent-acceptance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := prepare(scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return engines.Main(m)
}

func prepare(scratch string) error {
	config := filepath.Join(scratch, "cli.tfrc")
	if err := os.WriteFile(config, []byte(cliConfig), 0o600); err != nil {
		return fmt.Errorf("write the tool's configuration: %w", err)
	}
	variables := map[string]string{
		"TF_CLI_CONFIG_FILE": config, "CHECKPOINT_DISABLE": "1",
		"TF_ACC_PROVIDER_NAMESPACE": "idempotent-jobs", "TF_ACC_TERRAFORM_PATH": binary(),
		// Each step starts the provider anew in this process; its debug log would only cost time.
		"TF_LOG_SDK": "off",
	}
	if os.Getenv(envCLI) != "" {
		variables["TF_ACC_PROVIDER_HOST"] = "registry.opentofu.org"
	}
	for _, ambient := range []string{
		"GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_REGION", "GCLOUD_REGION",
		"CLOUDSDK_COMPUTE_REGION", "GOOGLE_CREDENTIALS", "GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
	} {
		variables[ambient] = ""
	}
	for name, value := range variables {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("prepare the environment: %w", err)
		}
	}
	return nil
}

// binary is the tool that this process tests with, "" when there is none.
func binary() string {
	for _, candidate := range []string{os.Getenv(envCLI), os.Getenv("IDEMPOTENT_TEST_TERRAFORM"), "terraform"} {
		if candidate == "" {
			continue
		}
		if found, err := exec.LookPath(candidate); err == nil {
			return found
		}
	}
	return ""
}

// OnOpenTofu runs the tests that match again, in a child process, with OpenTofu in place of Terraform. Where sample names tests, only
// they are run again unless IDEMPOTENT_TEST_OPENTOFU is all.
func OnOpenTofu(t *testing.T, pattern string, sample ...string) {
	t.Helper()
	if os.Getenv(envCLI) != "" {
		return
	}
	if len(sample) > 0 && os.Getenv("IDEMPOTENT_TEST_OPENTOFU") != "all" {
		pattern = "^(" + strings.Join(sample, "|") + ")$"
	}
	path, _ := engines.Tofu(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run="+pattern, "-test.timeout=25m")
	child.Env = append(os.Environ(), envCLI+"="+path)
	if output, err := child.CombinedOutput(); err != nil {
		t.Errorf("with %s: %v\n%s", path, err, output)
	}
}
