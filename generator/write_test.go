package generator_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

func plan(t *testing.T, spec generator.Spec) []generator.File {
	t.Helper()
	files, err := generator.Plan(spec)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, dir string, spec generator.Spec, mode generator.Mode) generator.Report {
	t.Helper()
	report, err := generator.Write(dir, plan(t, spec), mode)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// contents returns all files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, content string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWriteCreatesWhatIsPlannedAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	spec := generator.Spec{Name: "nightly", Store: "sqlite", Package: "nightly"}
	report := write(t, dir, spec, generator.Apply)
	want := map[string]string{}
	for _, f := range plan(t, spec) {
		want[f.Path] = string(f.Content)
	}
	if d := cmp.Diff(want, contents(t, dir)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), report.Written); d != "" {
		t.Error(d)
	}
}

func TestSecondWriteTouchesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := generator.Spec{Name: "nightly", Store: "sqlite"}
	write(t, dir, spec, generator.Apply)
	before, err := os.Stat(filepath.Join(dir, "handler_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	if report := write(t, dir, spec, generator.Apply); report.Changed() {
		t.Errorf("wrote %v, deleted %v", report.Written, report.Deleted)
	}
	after, err := os.Stat(filepath.Join(dir, "handler_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("handler_gen.go was replaced")
	}
}

func TestUserFilesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := generator.Spec{Name: "nightly", Store: "sqlite"}
	write(t, dir, spec, generator.Apply)
	put(t, "package main // mine", dir, "job.go")
	if err := os.Remove(filepath.Join(dir, "Dockerfile")); err != nil {
		t.Fatal(err)
	}

	spec.Store = "firestore"
	report := write(t, dir, spec, generator.Apply)
	if d := cmp.Diff([]string{"handler_gen.go"}, report.Written[slices.Index(report.Written, "handler_gen.go"):]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"Dockerfile"}, report.Missing); d != "" {
		t.Error(d)
	}
	now := contents(t, dir)
	if now["job.go"] != "package main // mine" {
		t.Error("job.go was touched")
	}
	if _, back := now["Dockerfile"]; back {
		t.Error("a deleted file of the user's came back")
	}

	if report := write(t, dir, spec, generator.Force); !slices.Equal(report.Written, []string{"Dockerfile"}) {
		t.Errorf("force wrote %v, want the Dockerfile alone", report.Written)
	}
	if contents(t, dir)["job.go"] != "package main // mine" {
		t.Error("force touched job.go")
	}
}

func TestEditedFileOfOursIsRefusedWithItsLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(lines []string) []string
		want string
	}{
		"changed":  {func(l []string) []string { l[2] = "// mine"; return l }, "line 3"},
		"inserted": {func(l []string) []string { return slices.Insert(l, 5, "// a", "// b") }, "lines 6-7"},
		"deleted":  {func(l []string) []string { return slices.Delete(l, 4, 6) }, "before line 5"},
		"scattered": {func(l []string) []string {
			l[0], l[20] = "// mine", "// mine"
			return append(l, "// end")
		}, "lines 1, 21, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, generator.Spec{Name: "nightly", Store: "sqlite"}, generator.Apply)
			before := contents(t, dir)["handler_gen.go"]
			put(t, strings.Join(c.edit(strings.Split(before, "\n")), "\n"), dir, "handler_gen.go")
			edited := contents(t, dir)

			// The lines are those that the user edited, not those that the new plan changes as well.
			_, err := generator.Write(dir, plan(t, generator.Spec{Name: "nightly", Store: "firestore", Jobs: []string{"a"}}), generator.Apply)
			var e *generator.EditedError
			if !errors.As(err, &e) || e.Path != "handler_gen.go" || !strings.HasPrefix(e.Lines, c.want) {
				t.Fatalf("got %v, want handler_gen.go with %s", err, c.want)
			}
			if d := cmp.Diff(edited, contents(t, dir)); d != "" {
				t.Errorf("a refused write changed the folder:\n%s", d)
			}
		})
	}
}

func TestForceTakesBackAnEditedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := generator.Spec{Name: "nightly", Store: "sqlite"}
	write(t, dir, spec, generator.Apply)
	before := contents(t, dir)
	put(t, "mine", dir, "handler_gen.go")
	if report := write(t, dir, spec, generator.Force); !slices.Equal(report.Written, []string{"handler_gen.go"}) {
		t.Errorf("wrote %v", report.Written)
	}
	if d := cmp.Diff(before, contents(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestLineEndingsAreNoEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := generator.Spec{Name: "nightly", Store: "sqlite"}
	write(t, dir, spec, generator.Apply)
	for name, content := range contents(t, dir) {
		put(t, strings.ReplaceAll(content, "\n", "\r\n"), dir, name)
	}
	if report := write(t, dir, spec, generator.Apply); report.Changed() {
		t.Errorf("wrote %v", report.Written)
	}
}

func TestStaleFileOfOursIsDeletedOnlyUnchanged(t *testing.T) {
	t.Parallel()
	extra := generator.File{Path: "old/part_gen.go", Content: []byte("package old\n"), Ours: true}
	withExtra := func(t *testing.T, dir string) {
		t.Helper()
		files, err := generator.AddFile(plan(t, generator.Spec{Name: "nightly"}), extra)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := generator.Write(dir, files, generator.Apply); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		withExtra(t, dir)
		if report := write(t, dir, generator.Spec{Name: "nightly"}, generator.Check); !strings.Contains(report.Diff, "-package old") {
			t.Errorf("the diff does not show the deletion:\n%s", report.Diff)
		}
		report := write(t, dir, generator.Spec{Name: "nightly"}, generator.Apply)
		if !slices.Equal(report.Deleted, []string{"old/part_gen.go"}) {
			t.Errorf("deleted %v", report.Deleted)
		}
		if _, err := os.Stat(filepath.Join(dir, "old")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the empty folder stayed")
		}
	})
	t.Run("edited", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		withExtra(t, dir)
		put(t, "package old\n// mine\n", dir, "old", "part_gen.go")
		_, err := generator.Write(dir, plan(t, generator.Spec{Name: "nightly"}), generator.Apply)
		var e *generator.EditedError
		if !errors.As(err, &e) || !e.Stale || e.Lines != "line 2" {
			t.Fatalf("got %v", err)
		}
		if contents(t, dir)["old/part_gen.go"] != "package old\n// mine\n" {
			t.Error("the edited file was touched")
		}
	})
}

func TestForeignFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, generator.Spec{Name: "first"}, generator.Apply)
	before := contents(t, dir)
	for _, mode := range []generator.Mode{generator.Apply, generator.Check, generator.Force} {
		_, err := generator.Write(dir, plan(t, generator.Spec{Name: "second"}), mode)
		var e *generator.ForeignError
		if !errors.As(err, &e) || e.Owner != "first" || e.Handler != "second" {
			t.Errorf("mode %d: got %v", mode, err)
		}
	}
	if d := cmp.Diff(before, contents(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestNoAccessLeavesTheFolder(t *testing.T) {
	t.Parallel()
	spec := generator.Spec{Name: "nightly", Package: "nightly"}
	for name, link := range map[string]struct{ name, target string }{
		"file of ours":  {"handler_gen.go", "victim.txt"},
		"user's file":   {"job.go", "victim.txt"},
		"manifest":      {".idempotent.json", "victim.txt"},
		"folder":        {"cmd", "."},
		"dangling file": {"job.go", "new.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside, dir := t.TempDir(), t.TempDir()
			put(t, "{}", outside, "victim.txt")
			if err := os.Symlink(filepath.Join(outside, link.target), filepath.Join(dir, link.name)); err != nil {
				t.Fatal(err)
			}
			_, err := generator.Write(dir, plan(t, spec), generator.Force)
			if d := cmp.Diff(map[string]string{"victim.txt": "{}"}, contents(t, outside)); d != "" {
				t.Errorf("the world outside changed (error %v):\n%s", err, d)
			}
			if err == nil {
				t.Error("a link that leads outside was accepted")
			}
		})
	}
}

func TestManifestThatLeavesTheFolderIsRefused(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]string{
		`{"version": 1, "handler": "nightly", "ours": [{"path": "../x"}]}`: `path "../x" leaves the folder`,
		`{"version": 9, "handler": "nightly"}`:                             "its version is 9, this program knows 1",
		`{`:                                                                "unexpected end of JSON input",
	} {
		dir := t.TempDir()
		put(t, manifest, dir, generator.ManifestPath)
		_, err := generator.Write(dir, plan(t, generator.Spec{Name: "nightly"}), generator.Force)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", manifest, err, want)
		}
		if got := contents(t, dir); len(got) != 1 {
			t.Errorf("%s: the folder was written to: %d files", manifest, len(got))
		}
	}
}

func TestNoTemporaryFileStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "job.go"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := generator.Write(dir, plan(t, generator.Spec{Name: "nightly"}), generator.Apply); err == nil {
		t.Error("a folder in the place of a file was accepted")
	}
	for name := range contents(t, dir) {
		if strings.Contains(name, ".new-") {
			t.Errorf("%s stayed", name)
		}
	}
}

func TestPlanWithoutManifestIsRefused(t *testing.T) {
	t.Parallel()
	_, err := generator.Write(t.TempDir(), []generator.File{{Path: "a_gen.go", Ours: true}}, generator.Apply)
	if err == nil || err.Error() != "the plan holds no .idempotent.json: write the files that Plan returned" {
		t.Errorf("got %v", err)
	}
}
