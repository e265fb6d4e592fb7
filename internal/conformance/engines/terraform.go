package engines

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	envTerraform = "IDEMPOTENT_TEST_TERRAFORM"
	envTofu      = "IDEMPOTENT_TEST_TOFU"
)

// cliConfig is the configuration that tests run the command line tools with, whatever the machine's own says: nothing is
// looked up in the network that the test did not ask for.
const cliConfig = `disable_checkpoint = true
`

// Terraform returns the path of a Terraform binary, from IDEMPOTENT_TEST_TERRAFORM or the PATH, and of a configuration file
// for TF_CLI_CONFIG_FILE that the test owns and may append to.
func Terraform(t testing.TB) (path, configFile string) {
	t.Helper()

	return commandLine(t, nameTerraform, envTerraform)
}

// Tofu returns the path of an OpenTofu binary, from IDEMPOTENT_TEST_TOFU or the PATH, and of a configuration file as Terraform
// does.
func Tofu(t testing.TB) (path, configFile string) {
	t.Helper()

	return commandLine(t, nameTofu, envTofu)
}

func commandLine(t testing.TB, name, env string) (path, configFile string) {
	t.Helper()

	path = cmp.Or(os.Getenv(env), name)

	found, err := exec.LookPath(path)
	if err != nil {
		missing(t, name, path+" is not there: set "+env+" or put "+name+" on the PATH")
	}

	found, err = filepath.Abs(found)
	if err != nil {
		t.Fatal(err)
	}

	configFile = filepath.Join(t.TempDir(), "cli.tfrc")
	if err := os.WriteFile(configFile, []byte(cliConfig), 0o600); err != nil {
		t.Fatal(err)
	}

	return found, configFile
}
