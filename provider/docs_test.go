package provider_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// pages are the registry pages below a folder: path to content.
func pages(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, part := range []string{"index.md", "resources", "data-sources", "functions"} {
		err := filepath.WalkDir(filepath.Join(folder, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(folder, path)
			found[name] = string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestRegistryPagesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the provider and the generator of the pages")
	}
	cli := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if cli == "" {
		cli, _ = engines.Terraform(t)
	}
	fresh := t.TempDir()
	command := exec.CommandContext(t.Context(), "../scripts/docs.sh", fresh)
	command.Env = append(os.Environ(), "CLI="+cli)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if diff := cmp.Diff(pages(t, "../docs"), pages(t, fresh)); diff != "" {
		t.Errorf("the pages are stale, write them again with `make generate`:\n%s", diff)
	}
}
