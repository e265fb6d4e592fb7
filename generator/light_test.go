package generator_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// goTool runs the go command in a folder and returns its standard output.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, problems.String())
	}
	return string(out)
}

// ofRuntime reports whether the library may import a package of this module.
func ofRuntime(path string) bool {
	return strings.HasPrefix(path, generator.LibraryModule+"/runtime/") ||
		path == generator.LibraryModule+"/internal/unixcron" || path == generator.LibraryModule+"/internal/loopback"
}

// What handlers link must not drag in the provider: the library stands on itself.
func TestLibraryImportsNothingElseOfThisModule(t *testing.T) {
	t.Parallel()
	deps := strings.Fields(goTool(t, "..", "list", "-deps", "./runtime/..."))
	if len(deps) == 0 {
		t.Fatal("no packages below runtime/")
	}
	for _, path := range deps {
		ours := path == generator.LibraryModule || strings.HasPrefix(path, generator.LibraryModule+"/")
		if ours && !ofRuntime(path) {
			t.Errorf("runtime/ imports %s", path)
		}
		if strings.HasPrefix(path, "github.com/hashicorp/terraform") {
			t.Errorf("runtime/ imports %s", path)
		}
	}
}

// The tests of the library count for its users: go mod tidy records what they import in every handler's go.sum.
func TestLibraryTestsImportOnlyWhatTheirPackagesDo(t *testing.T) {
	t.Parallel()
	const format = `{{.ImportPath}}|{{join .Deps " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	for line := range strings.Lines(goTool(t, "..", "list", "-f", format, "./runtime/...")) {
		part := strings.Split(strings.TrimSpace(line), "|")
		deps := strings.Fields(part[1])
		for path := range strings.FieldsSeq(part[2]) {
			standard := !strings.Contains(strings.Split(path, "/")[0], ".")
			if !standard && !ofRuntime(path) && !slices.Contains(deps, path) {
				t.Errorf("a test of %s imports %s, which the package itself does not", part[0], path)
			}
		}
	}
}

// A replace would not apply in the modules that require this one.
func TestModuleReplacesNothing(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Replace {
		t.Errorf("go.mod replaces %s", r.Old.Path)
	}
}

// A generated module cannot ask for an older Go than the library it requires.
func TestGeneratedModuleAsksForTheGoOfTheLibrary(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	library, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plan(t, generator.Spec{Name: "nightly"}) {
		if f.Path != "go.mod" {
			continue
		}
		generated, err := modfile.Parse(f.Path, f.Content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if generated.Go.Version != library.Go.Version {
			t.Errorf("go %s, the library has go %s", generated.Go.Version, library.Go.Version)
		}
		return
	}
	t.Error("no go.mod")
}
