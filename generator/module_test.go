package generator_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// testing.Short leaves out what compiles whole modules.
const longReason = "builds a generated module for each kind and store"

// newModule writes a handler into a folder of its own and makes it use this checkout of the library.
func newModule(t *testing.T, spec generator.Spec) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "handler")
	write(t, dir, spec, generator.Apply)
	library, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	goTool(t, dir, "mod", "edit", "-replace", generator.LibraryModule+"="+library)
	goTool(t, dir, "mod", "tidy")
	return dir
}

// ceilings reads how many lines the go.sum of a handler may have, by kind and store.
func ceilings(t *testing.T) map[string]int {
	t.Helper()
	content, err := os.ReadFile("testdata/gosum.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines map[string]int
	if err := json.Unmarshal(content, &lines); err != nil {
		t.Fatal(err)
	}
	return lines
}

// builtModules are the handlers that are built: every store with one kind, every kind with one store, and what settings change of a kind
// beyond that. What a kind generates does not depend on the store but for its package, as the golden files show.
func builtModules() map[string]generator.Spec {
	all := map[string]generator.Spec{}
	add := func(kind, store string) {
		all[kind+"-"+store] = specOf(kind, store, "nightly-report", "clean-up")
	}
	for _, store := range generator.Stores() {
		add("http", store.Name)
		if store.Inbox != "" { // its package is another one
			add("webhook", store.Name)
		}
	}
	for _, kind := range generator.Kinds() {
		add(kind, "sqlite")
	}
	for _, shape := range []string{"api-tenant-header", "webhook-any-event"} {
		all[shape] = goldens()[shape]
	}
	return all
}

// Each of them is a module that tidies, builds, vets and passes its own tests, and stays light: nothing of Terraform, no other store,
// no client of another kind, no larger go.sum than recorded.
func TestGeneratedModulesBuildAndStayLight(t *testing.T) {
	if testing.Short() {
		t.Skip(longReason)
	}
	t.Parallel()
	limit := ceilings(t)
	for name, spec := range builtModules() {
		t.Run(name, func(t *testing.T) {
			dir := newModule(t, spec)
			goTool(t, dir, "vet", "./...")
			goTool(t, dir, "build", "-o", "handler", entry(spec))
			goTool(t, dir, "test", "./...")
			store := generator.Stores()[slices.IndexFunc(generator.Stores(), func(s generator.Store) bool { return s.Name == spec.Store })]
			if spec.Kind != "function" { // which opens its store at the first delivery
				checkWrongStore(t, filepath.Join(dir, "handler"), store, spec.Kind)
			}
			checkLight(t, dir, name, store, limit[name])
			checkClients(t, dir, spec.Kind)
		})
	}
}

// entry is the program of a handler, as go build takes it.
func entry(spec generator.Spec) string {
	if spec.Kind == "function" || spec.Package != "" {
		return "./cmd/" + spec.Name
	}
	return "."
}

// checkClients fails when a handler links the client of another kind.
func checkClients(t *testing.T, dir, kind string) {
	t.Helper()
	packages := map[string]string{
		"forward_workflows": "/runtime/forward/workflowsforward", "forward_run_job": "/runtime/forward/runjobforward",
		"forward_cloud_build": "/runtime/forward/cloudbuildforward",
	}
	deps := strings.Fields(goTool(t, dir, "list", "-deps", "./..."))
	for of, pkg := range packages {
		if slices.Contains(deps, generator.LibraryModule+pkg) != (of == kind) {
			t.Errorf("a handler of kind %s links %s: %t", kind, pkg, of != kind)
		}
	}
}

func TestGeneratedLibraryPackageBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip(longReason)
	}
	t.Parallel()
	dir := newModule(t, generator.Spec{Name: "nightly-report", Package: "nightly", Store: "sqlite", Project: "acme", Region: "europe-west1"})
	goTool(t, dir, "vet", "./...")
	goTool(t, dir, "build", "-o", os.DevNull, "./cmd/nightly-report")
	goTool(t, dir, "test", "./...")
}

// checkWrongStore starts the program with the URL of another store: it says which one it was built for, and repeats no password.
func checkWrongStore(t *testing.T, program string, store generator.Store, kind string) {
	t.Helper()
	example := strings.Replace(store.Example, "scheduler_runs", path.Base(generator.DefaultStore(kind, "p")), 1)
	for url, want := range map[string]string{
		"mysql://me:hunter2@host/db": "IDEMPOTENT_STORE names another store than the one this program was built for, " + store.Title +
			": give a URL such as " + example + ", or generate the handler again with the other store",
		"": "IDEMPOTENT_STORE is not set: give the store's URL, such as " + example,
	} {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = []string{"IDEMPOTENT_STORE=" + url, "IDEMPOTENT_CALLER=insecure"}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("started with store %q: %v, want exit status 1", url, err)
		}
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "hunter2") {
			t.Errorf("started with store %q it said %s, want: %s", url, out, want)
		}
	}
}

func checkLight(t *testing.T, dir, name string, store generator.Store, limit int) {
	t.Helper()
	for dep := range strings.FieldsSeq(goTool(t, dir, "list", "-deps", "./...")) {
		for _, other := range generator.Stores() {
			if other.Name != store.Name && dep == other.Import() {
				t.Errorf("a handler with %s links %s", store.Name, dep)
			}
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		for _, line := range lines {
			// A go.sum names the go.mod of modules that were only looked at; code is on lines without /go.mod.
			if strings.Contains(line, "github.com/hashicorp/terraform") && !strings.Contains(line, "/go.mod ") {
				t.Errorf("%s of a handler with %s holds %s", file, store.Name, line)
			}
		}
		if file == "go.sum" && len(lines) > limit {
			t.Errorf("go.sum of %s has %d lines, recorded are %d: find what came in, or raise testdata/gosum.json", name, len(lines), limit)
		}
	}
}
