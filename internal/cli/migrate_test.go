package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
)

var updateMigrated = flag.Bool("update-migrated", false, "write the migrated configurations again")

func runMigrate(t *testing.T, stdin string, arguments ...string) (string, error) {
	t.Helper()
	command := cli.New("dev")
	var out bytes.Buffer
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&out)
	command.SetErr(&bytes.Buffer{})
	command.SetArgs(append([]string{"migrate"}, arguments...))
	err := command.Execute()
	return out.String(), err
}

func TestMigrateWritesTheConfigurationOfAState(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"state", "pulled"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata", "migrate", name+".tf")
			got, err := runMigrate(t, "", filepath.Join("testdata", "migrate", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if *updateMigrated {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			if _, diagnostics := hclparse.NewParser().ParseHCL([]byte(got), golden); diagnostics.HasErrors() {
				t.Error(diagnostics)
			}
			if strings.Contains(got, "hunter") {
				t.Error("a secret is written")
			}
		})
	}
}

func TestMigrateWritesAFileOnceAndEnforcesOnRequest(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "jobs.tf")
	state := filepath.Join("testdata", "migrate", "pulled.json")
	if _, err := runMigrate(t, "", "--out", out, "--enforce", state); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(written), "observe") || !strings.Contains(string(written), "moved {") {
		t.Errorf("wrote %s, %v", written, err)
	}
	if _, err := runMigrate(t, "", "--out", out, state); err == nil {
		t.Error("the file is overwritten")
	}
}

func TestMigrateReadsAPlanAsWhatIsThereBefore(t *testing.T) {
	t.Parallel()
	values := func(schedule string) string {
		return `{"root_module": {"resources": [{"mode": "managed", "type": "google_cloud_scheduler_job", "name": "a", "values": {"name": "a",
			"schedule": "` + schedule + `", "http_target": [{"uri": "https://example.com/"}]}}]}}`
	}
	got, err := runMigrate(t, `{"format_version": "1.2", "planned_values": `+values("0 4 * * *")+`, "prior_state": {"values": `+values("0 3 * * *")+`}}`, "-")
	if err != nil || !strings.Contains(got, `"0 3 * * *"`) {
		t.Errorf("wrote %s, %v", got, err)
	}
}

func TestMigrateSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                          "no JSON of a state or plan",
		"resource {}":               "no JSON of a state or plan",
		`{"a": 1}`:                  "neither a state nor a plan",
		`{"version": 3}`:            "holds no state",
		`{"format_version": "1.0"}`: "holds no state",
		`{"version": 4}`:            "holds no google_cloud_scheduler_job",
	} {
		if _, err := runMigrate(t, input, "-"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if _, err := runMigrate(t, "", "no-such-file"); err == nil {
		t.Error("a missing file is read")
	}
}
