package received_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// build generates a handler, puts in what its user writes, and builds the program.
func build(t *testing.T, spec generator.Spec, users string) string {
	t.Helper()
	files, err := generator.Plan(spec)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), spec.Name)
	if _, err := generator.Write(dir, files, generator.Apply); err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(filepath.Join("testdata", users, "*.go"))
	if err != nil || len(written) == 0 {
		t.Fatalf("nothing in testdata/%s: %v", users, err)
	}
	for _, path := range written {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	library, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	goTool(t, dir, "mod", "edit", "-replace", generator.LibraryModule+"="+library)
	goTool(t, dir, "mod", "tidy")
	goTool(t, dir, "build", "-o", "handler", ".")
	return filepath.Join(dir, "handler")
}

func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
