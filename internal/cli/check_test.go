package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

func TestCheckScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/check",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"showplan": showPlan, "showstate": showState},
	})
}

// showPlan writes what terraform show -json prints of a plan that creates what a folder declares: showplan DIR FILE.
func showPlan(ts *testscript.TestScript, _ bool, args []string) {
	plan, err := plantest.Plan(nil, configFiles(ts, args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), plan, 0o600))
}

// showState writes the same of the state after apply: showstate DIR FILE.
func showState(ts *testscript.TestScript, _ bool, args []string) {
	state, err := plantest.State(configFiles(ts, args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), state, 0o600))
}

func configFiles(ts *testscript.TestScript, dir string) plantest.Files {
	files := plantest.Files{}
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tf" {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	return files
}

func TestExitStatusTellsFindingsFromWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	open := plantest.Files{"main.tf": `
resource "google_cloud_scheduler_job" "open" {
  name     = "open"
  project  = "acme-prod"
  region   = "europe-west1"
  schedule = "0 3 * * *"

  http_target {
    uri = "https://api.acme.example/run"
  }
}
`}
	plan, err := plantest.Plan(nil, open)
	if err != nil {
		t.Fatal(err)
	}
	empty := []byte(`{"format_version":"1.2","resource_changes":[]}`)
	for name, c := range map[string]struct {
		args  []string
		stdin []byte
		want  int
	}{
		"clean":             {[]string{"-"}, empty, 0},
		"findings":          {[]string{"-"}, plan, 1},
		"no plan":           {[]string{"-"}, []byte("resource"), 2},
		"no file":           {[]string{"missing.json"}, nil, 2},
		"no argument":       {nil, nil, 2},
		"two arguments":     {[]string{"a", "b"}, nil, 2},
		"unknown flag":      {[]string{"--nope", "-"}, empty, 2},
		"unknown format":    {[]string{"--format", "xml", "-"}, empty, 2},
		"unknown level":     {[]string{"--fail-on", "note", "-"}, empty, 2},
		"missing settings":  {[]string{"--settings", "missing.yaml", "-"}, empty, 2},
		"missing config":    {[]string{"--config", "missing", "-"}, empty, 2},
		"unknown rule":      {[]string{"--explain", "nope"}, nil, 2},
		"explained":         {[]string{"--explain", "no-retry"}, nil, 0},
		"unknown address":   {[]string{"--timetable", "a.b", "-"}, plan, 2},
		"timetable":         {[]string{"--timetable", "google_cloud_scheduler_job.open", "-"}, plan, 0},
		"findings as sarif": {[]string{"--format", "sarif", "-"}, plan, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := cli.New("1.2.3")
			var out, complaints bytes.Buffer
			command.SetArgs(append([]string{"check"}, c.args...))
			command.SetIn(bytes.NewReader(c.stdin))
			command.SetOut(&out)
			command.SetErr(&complaints)
			if got := cli.ExitStatus(command.Execute()); got != c.want {
				t.Errorf("exit status is %d, want %d: %s", got, c.want, complaints.String())
			}
			if lines := strings.Count(complaints.String(), "\n"); c.want == 2 && lines != 1 {
				t.Errorf("%d lines of error, want one: %s", lines, complaints.String())
			}
		})
	}
}

func TestExitStatusOfOtherErrorsIsOne(t *testing.T) {
	t.Parallel()
	if got := cli.ExitStatus(os.ErrNotExist); got != 1 {
		t.Errorf("exit status is %d, want 1", got)
	}
	if got := cli.ExitStatus(nil); got != 0 {
		t.Errorf("exit status is %d, want 0", got)
	}
}
