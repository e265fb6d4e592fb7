package generator

import (
	"go/build"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJobsGetGoNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job{
		"nightly-report": {Method: "NightlyReport", File: "nightly_report_job"},
		"Nightly_Report": {Method: "NightlyReport", File: "nightly_report_job"},
		"2fast":          {Method: "Job2fast", File: "2fast_job"},
		"run-test":       {Method: "RunTest", File: "run_test_job"},
		"build-windows":  {Method: "BuildWindows", File: "build_windows_job"},
		"-x-":            {Method: "X", File: "x_job"},
		"self":           {Method: "Self", File: "job", Own: true},
	} {
		want.Name = name
		jobs, errs := nameJobs(Spec{Name: "self", Jobs: []string{name}})
		if len(errs) != 0 || jobs[0] != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, jobs, errs, want)
		}
	}
}

// A job's file must be compiled on every system, never as a test, and its method must be a Go name, whatever the job is called.
func TestEveryJobNameGivesAFileThatIsCompiled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9_-]{1,40}(_(linux|windows|test|amd64|plan9))?`).Draw(t, "name")
		jobs, errs := nameJobs(Spec{Name: "self", Jobs: []string{name}})
		if len(errs) != 0 {
			if strings.Trim(name, "-_") != "" {
				t.Fatalf("%s: %v", name, errs)
			}
			return
		}
		file := jobs[0].File + ".go"
		if err := os.WriteFile(filepath.Join(dir, file), []byte("package x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := build.Default.MatchFile(dir, file); err != nil || !ok || strings.HasSuffix(file, "_test.go") {
			t.Fatalf("%s: file %s is not compiled (%v)", name, file, err)
		}
		if !token.IsExported(jobs[0].Method) || !token.IsIdentifier(jobs[0].Method) {
			t.Fatalf("%s: %s is no exported Go name", name, jobs[0].Method)
		}
	})
}

func TestLongJobNamesFitFileSystems(t *testing.T) {
	t.Parallel()
	jobs, errs := nameJobs(Spec{Name: "self", Jobs: []string{strings.Repeat("a", 499) + "b", strings.Repeat("a", 500)}})
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	if jobs[0].File == jobs[1].File {
		t.Errorf("two jobs share file %s", jobs[0].File)
	}
	for _, j := range jobs {
		if n := len(j.File + "_test.go"); n > 200 {
			t.Errorf("file name of %d bytes", n)
		}
	}
}

func TestServiceNamesSuitCloudRun(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-z]([a-z0-9-]{0,47}[a-z0-9])?$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9_-]{1,80}`).Draw(t, "name")
		if got := serviceName(name); !valid.MatchString(got) {
			t.Fatalf("%s became %s", name, got)
		}
	})
}
