package generator_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// A folder that older templates made, and whose user then wrote, renamed and deleted, is brought up to date without a loss.
func TestUpgradeLosesNoLineOfTheUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := generator.Spec{Name: "nightly", Jobs: []string{"nightly", "weekly"}, Store: "sqlite"}
	older := slices.DeleteFunc(plan(t, spec), func(f generator.File) bool { return f.Path == "handler_gen.go" || f.Path == ".gcloudignore" })
	older, err := generator.AddFile(older, generator.File{Path: "handler_gen.go", Content: []byte("package main\n\n// old\n"), Ours: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generator.Write(dir, older, generator.Apply); err != nil {
		t.Fatal(err)
	}

	users := map[string]string{
		"job.go": "package main // mine", "main.go": "package main // mine too", "go.mod": "module example.com/mine\n", "own.go": "package main",
	}
	for name, content := range users {
		put(t, content, dir, name)
	}
	for _, name := range []string{"README.md", "weekly_job_test.go"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, dir)

	report := write(t, dir, spec, generator.Apply)
	if d := cmp.Diff([]string{".gcloudignore", ".idempotent.json", "handler_gen.go"}, report.Written); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"README.md", "weekly_job_test.go"}, report.Missing); d != "" {
		t.Error(d)
	}
	after := contents(t, dir)
	for _, f := range plan(t, spec) {
		if f.Ours && after[f.Path] != string(f.Content) {
			t.Errorf("%s is not up to date", f.Path)
		}
		if f.Ours || f.Path == ".gcloudignore" {
			delete(before, f.Path)
			delete(after, f.Path)
		}
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("files of the user's changed:\n%s", d)
	}
}
