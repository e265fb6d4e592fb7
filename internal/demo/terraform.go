package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// terraform drives one Terraform or OpenTofu binary in a folder of its own, with the provider under development.
type terraform struct {
	cli string
	dir string
	env []string
}

// newTerraform copies the configuration into dir and writes the CLI's settings beside it; a foreign or missing CLI configuration of
// the user does not matter.
func newTerraform(cli, provider, configuration, dir string, vars map[string]string) (*terraform, error) {
	if err := os.CopyFS(dir, configurationOnly{os.DirFS(configuration)}); err != nil {
		return nil, fmt.Errorf("copy %s: %w", configuration, err)
	}

	settings := filepath.Join(dir, "cli.tfrc")
	text := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"idempotent-jobs/idempotent\" = %q\n  }\n  direct {}\n}\n",
		filepath.Dir(provider))

	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the CLI's settings: %w", err)
	}

	env := append(os.Environ(), "TF_CLI_CONFIG_FILE="+settings, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0")
	for name, value := range vars {
		env = append(env, "TF_VAR_"+name+"="+value)
	}

	return &terraform{cli: cli, dir: dir, env: env}, nil
}

// apply makes the world as declared; with adds to or replaces variables for this call and later ones.
func (t *terraform) apply(ctx context.Context, with ...string) error {
	for _, assignment := range with {
		t.env = append(t.env, "TF_VAR_"+assignment)
	}

	out, err := t.command(ctx, "apply", "-auto-approve", "-no-color").CombinedOutput()
	if err != nil {
		return fmt.Errorf("apply: %w\n%s", err, out)
	}

	return nil
}

// changes tells whether a plan would change anything, and prints the plan it made.
func (t *terraform) changes(ctx context.Context) (bool, string, error) {
	const somethingToDo = 2

	out, err := t.command(ctx, "plan", "-detailed-exitcode", "-no-color").CombinedOutput()

	var exit *exec.ExitError

	switch {
	case err == nil:
		return false, string(out), nil
	case errors.As(err, &exit) && exit.ExitCode() == somethingToDo:
		return true, string(out), nil
	default:
		return false, "", fmt.Errorf("plan: %w\n%s", err, out)
	}
}

// version is the first line of the binary's own version output.
func (t *terraform) version(ctx context.Context) (string, error) {
	out, err := t.command(ctx, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", t.cli, err)
	}

	line, _, _ := strings.Cut(string(bytes.TrimSpace(out)), "\n")

	return line, nil
}

func (t *terraform) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.cli, args...)
	cmd.Dir, cmd.Env = t.dir, t.env

	return cmd
}

// configurationOnly hides what an earlier use of the folder may have left there.
type configurationOnly struct{ fs.FS }

func (f configurationOnly) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	if err != nil {
		return nil, err
	}

	kept := entries[:0]

	for _, entry := range entries {
		if !entry.IsDir() && strings.HasSuffix(entry.Name(), ".tf") {
			kept = append(kept, entry)
		}
	}

	return kept, nil
}
