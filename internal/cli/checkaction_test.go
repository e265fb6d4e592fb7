package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

// action is what the test reads of action.yml.
type action struct {
	Inputs map[string]struct {
		Default string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []struct {
			ID  string            `yaml:"id"`
			Run string            `yaml:"run"`
			Env map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func TestActionReportsFindingsAndFailsLikeTheCommand(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(content, &a); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	step := a.Runs.Steps[len(a.Runs.Steps)-1]
	if step.ID != "check" {
		t.Fatalf("the last step is %q", step.ID)
	}
	plan, err := plantest.Plan(nil, plantest.Files{"main.tf": "resource \"google_cloud_scheduler_job\" \"open\" {\n  name = \"open\"\n  schedule = \"0 3 * * *\"\n\n" +
		"  http_target {\n    uri = \"https://api.acme.example/run\"\n  }\n}\n"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan   []byte
		status int
		output string
	}{
		"findings": {plan, 1, "findings=true"},
		"clean":    {[]byte(`{"format_version":"1.2","resource_changes":[]}`), 0, "findings=false"},
		"no plan":  {[]byte("resource"), 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, content := range map[string][]byte{"plan.json": c.plan, "main.tf": []byte("# none\n"), "output": nil, "summary": nil} {
				if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
			command.Dir = dir
			command.Env = append(os.Environ(), "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
			for variable, expression := range step.Env {
				input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
				value, known := a.Inputs[input]
				if !known {
					t.Fatalf("%s is set to %s, which is no input", variable, expression)
				}
				if input == "plan" {
					value.Default = "plan.json"
				}
				command.Env = append(command.Env, variable+"="+value.Default)
			}
			text, _ := command.CombinedOutput()
			if got := command.ProcessState.ExitCode(); (got == 0) != (c.status == 0) {
				t.Errorf("exit status is %d, want %d:\n%s", got, c.status, text)
			}
			output, err := os.ReadFile(filepath.Join(dir, "output"))
			if err != nil || !strings.Contains(string(output), c.output) {
				t.Errorf("outputs are %q (%v), want %q", output, err, c.output)
			}
		})
	}
}

func TestHookCallsACommandThatIsThere(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID    string `yaml:"id"`
		Entry string `yaml:"entry"`
	}
	if err := yaml.Unmarshal(content, &hooks); err != nil {
		t.Fatal(err)
	}
	for _, hook := range hooks {
		words := strings.Fields(hook.Entry)
		command, _, err := cli.New("1.2.3").Find(words[1:])
		if err != nil || words[0] != "terraform-provider-idempotent" || command.Name() != words[1] {
			t.Errorf("hook %s calls %q: %v", hook.ID, hook.Entry, err)
		}
	}
}
