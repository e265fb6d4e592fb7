package planlint_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

// openJob is a job with one finding.
const openJob = `
resource "google_cloud_scheduler_job" "open" {
  name     = "open"
  schedule = "0 3 * * *"

  http_target {
    uri = "https://api.acme.example/run"
  }

  retry_config {
    retry_count          = 5
    min_backoff_duration = "30s"
  }
}
`

func checkConfig(t *testing.T, config string, options planlint.Options) planlint.Result {
	t.Helper()
	plan, err := plantest.Plan(nil, plantest.Files{"main.tf": providers + config})
	if err != nil {
		t.Fatal(err)
	}
	return checkPlan(t, plan, options)
}

func checkPlan(t *testing.T, plan []byte, options planlint.Options) planlint.Result {
	t.Helper()
	document, err := planlint.Read(bytes.NewReader(plan))
	if err != nil {
		t.Fatal(err)
	}
	return planlint.Check(document, options)
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindingsAreAtTheLineOfTheirBlockAlsoInModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := plantest.Files{
		"main.tf":            "module \"legacy\" {\n  source   = \"./modules/job\"\n  for_each = toset([\"a\"])\n}\n" + openJob,
		"modules/job/job.tf": "# the job\n" + openJob,
	}
	writeFiles(t, dir, files)
	source, err := planlint.ReadSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plantest.Plan(nil, files)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{}
	for _, f := range checkPlan(t, plan, planlint.Options{Source: source}).Findings {
		places[f.Address] = strings.TrimPrefix(f.Position.File, filepath.ToSlash(dir)+"/") + ":" + string(rune('0'+f.Position.Line))
	}
	want := map[string]string{
		`google_cloud_scheduler_job.open`:                    "main.tf:6",
		`module.legacy["a"].google_cloud_scheduler_job.open`: "modules/job/job.tf:3",
	}
	for address, place := range want {
		if places[address] != place {
			t.Errorf("%s is at %q, want %q", address, places[address], place)
		}
	}
}

func TestModulesOfARegistryAreFoundWhereInitPutsThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"main.tf": "module \"job\" {\n  source = \"acme/job/google\"\n}\n",
		".terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
			`{"Key":"job","Source":"registry.terraform.io/acme/job/google","Dir":".terraform/modules/job"}]}`,
		".terraform/modules/job/main.tf": openJob,
	})
	source, err := planlint.ReadSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	local := plantest.Files{"main.tf": "module \"job\" {\n  source = \"./m\"\n}\n", "m/main.tf": openJob}
	plan, err := plantest.Plan(nil, local)
	if err != nil {
		t.Fatal(err)
	}
	result := checkPlan(t, plan, planlint.Options{Source: source})
	if len(result.Findings) == 0 || !strings.HasSuffix(result.Findings[0].Position.File, ".terraform/modules/job/main.tf") {
		t.Errorf("findings are %+v", result.Findings)
	}
}

func TestFolderWithoutConfigurationIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := planlint.ReadSource(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no Terraform configuration") {
		t.Errorf("error is %v", err)
	}
}

// handlerPlan is a plan of a job whose handler has the given files.
func handlerPlan(t *testing.T, files map[string]string) []byte {
	t.Helper()
	content, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(openJob, "google_cloud_scheduler_job", "idempotent_scheduled_job", 1)
	config = strings.Replace(config, "  http_target", "  handler_files = jsonfiles\n  handler {\n    output_dir = \"handlers/open\"\n  }\n\n  http_target", 1)
	// Templates of HCL look like those of Go's source: the files go in where the JSON has a placeholder.
	config = strings.Replace(config, "jsonfiles", `"FILES"`, 1)
	plan, err := plantest.Plan(nil, plantest.Files{"main.tf": providers + config})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(plan, []byte(`"FILES"`), content)
}

func TestHandlerOlderThanItsPlanIsFound(t *testing.T) {
	t.Parallel()
	plan := func(store string) ([]generator.File, map[string]string) {
		files, err := generator.Plan(generator.Spec{Name: "open", Jobs: []string{"open"}, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string]string{}
		for _, f := range files {
			contents[f.Path] = string(f.Content)
		}
		return files, contents
	}
	old, oldContents := plan("sqlite")
	_, newContents := plan("firestore")
	dir := t.TempDir()
	outdated := func(contents map[string]string) bool {
		result := checkPlan(t, handlerPlan(t, contents), planlint.Options{Folder: dir})
		return strings.Contains(lines(result), "warning handler-outdated idempotent_scheduled_job.open handler.0.output_dir")
	}
	if outdated(oldContents) {
		t.Error("a handler that was never generated is called outdated")
	}
	if _, err := generator.Write(filepath.Join(dir, "handlers/open"), old, generator.Apply); err != nil {
		t.Fatal(err)
	}
	if outdated(oldContents) {
		t.Error("a handler that is up to date is called outdated")
	}
	if !outdated(newContents) {
		t.Error("a handler for another store is not found")
	}
	writeFiles(t, dir, map[string]string{"handlers/open/handler_gen.go": "// edited\n"})
	if !outdated(oldContents) {
		t.Error("an edited handler is not found")
	}
}

func TestTimetableSaysWhenAttemptsStartAndLeasesEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, address string
		want            []string
	}{
		"ours": {
			strings.Replace(openJob, "google_cloud_scheduler_job", "idempotent_scheduled_job", 1), "idempotent_scheduled_job.open",
			[]string{"      1        0s        0s        210s  -", "      6      930s     1830s       1140s  yes", "lease                                      210s", "the record may go"},
		},
		"google": {openJob, "google_cloud_scheduler_job.open", []string{"No lease is known for it", "      2       30s"}},
		"unknown": {
			strings.Replace(openJob, `"30s"`, "random_password.x.result", 1) + "resource \"random_password\" \"x\" {\n  length = 8\n}\n",
			"google_cloud_scheduler_job.open", []string{"known only after apply"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := plantest.Plan(nil, plantest.Files{"main.tf": providers + c.config})
			if err != nil {
				t.Fatal(err)
			}
			document, err := planlint.Read(bytes.NewReader(plan))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := planlint.WriteTimetable(&out, document, planlint.Options{}, c.address); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("timetable lacks %q:\n%s", want, out.String())
				}
			}
			err = planlint.WriteTimetable(&out, document, planlint.Options{}, "google_cloud_scheduler_job.opne")
			if err == nil || !strings.Contains(err.Error(), c.address) {
				t.Errorf("error is %v, want one that names %s", err, c.address)
			}
		})
	}
}
