package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

type checkFlags struct {
	format    string
	failOn    string
	config    string
	settings  string
	explain   string
	timetable string
}

func newCheckCommand(version string) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PLAN]",
		Short: "Find jobs in a plan or state that can run twice, or not at all",
		Long: `Find jobs in a plan or state that can run twice, or not at all.

PLAN is the output of terraform show -json or tofu show -json, of a plan or of a state; - reads it
from standard input. Jobs of this provider and of hashicorp/google are judged. Nothing is asked of
the network.

Exit status 0: nothing found at or above the level of --fail-on. 1: something was found. 2: the
plan, the settings or the command line cannot be read.`,
		Example: `  terraform show -json plan.out | terraform-provider-idempotent check --config . -
  terraform-provider-idempotent check plan.json --format sarif > check.sarif
  terraform-provider-idempotent check plan.json --timetable google_cloud_scheduler_job.nightly
  terraform-provider-idempotent check --explain retry-ends-before-lease`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, version) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", "how findings are printed: text, json or sarif")
	flags.StringVar(&f.failOn, "fail-on", "error", "the lowest level that makes the check fail: error or warning")
	flags.StringVar(&f.config, "config", "", "folder of the configuration: findings get file and line, and generated handlers are looked at")
	flags.StringVar(&f.settings, "settings", "", "levels and suppressions (default "+planlint.SettingsFile+" here or in the folder of --config)")
	flags.StringVar(&f.explain, "explain", "", "print the page of a rule; list prints all rules")
	flags.StringVar(&f.timetable, "timetable", "", "print when each attempt of a run of the job at this address would start")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{exitUnreadable, err} })
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, args []string, version string) error {
	if f.explain != "" {
		return unreadable(explain(cmd.OutOrStdout(), f.explain))
	}
	failOn, err := f.judge(args)
	if err != nil {
		return unreadable(err)
	}
	debug.SetGCPercent(50) // a large plan is mostly garbage: collecting it sooner costs little and keeps a fifth of the memory free
	document, err := readDocument(args[0], cmd.InOrStdin())
	if err != nil {
		return unreadable(fmt.Errorf("%s: %w", documentName(args[0]), err))
	}
	options, err := f.options()
	if err != nil {
		return unreadable(err)
	}
	if f.timetable != "" {
		return unreadable(planlint.WriteTimetable(cmd.OutOrStdout(), document, options, f.timetable))
	}
	result := planlint.Check(document, options)
	if err := f.write(cmd.OutOrStdout(), result, documentName(args[0]), version); err != nil {
		return unreadable(err)
	}
	if result.Worst() >= failOn {
		return &exitError{exitFindings, fmt.Errorf("something was found at or above level %s", failOn)}
	}
	return nil
}

// judge checks the command line.
func (f *checkFlags) judge(args []string) (planlint.Level, error) {
	switch f.format {
	case "text", "json", "sarif":
	default:
		return planlint.Off, fmt.Errorf("--format %q: write text, json or sarif", f.format)
	}
	failOn, err := planlint.ParseLevel(f.failOn)
	if err != nil || failOn < planlint.Warning {
		return planlint.Off, fmt.Errorf("--fail-on %q: write error or warning", f.failOn)
	}
	if len(args) == 0 {
		return planlint.Off, errors.New("the plan is missing: name the file that terraform show -json wrote, or - for standard input")
	}
	return failOn, nil
}

func documentName(arg string) string {
	if arg == "-" {
		return "standard input"
	}
	return arg
}

func readDocument(arg string, stdin io.Reader) (*planlint.Document, error) {
	if arg == "-" {
		return planlint.Read(bufio.NewReader(stdin))
	}
	file, err := os.Open(arg)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer func() { _ = file.Close() }()
	return planlint.Read(file)
}

func (f *checkFlags) options() (planlint.Options, error) {
	options := planlint.Options{Now: time.Now(), Folder: f.config}
	var err error
	if f.config != "" {
		if options.Source, err = planlint.ReadSource(f.config); err != nil {
			return options, err
		}
	}
	options.Settings, err = f.readSettings()
	return options, err
}

// readSettings reads the file that --settings names, which must be there, or one at the usual places.
func (f *checkFlags) readSettings() (*planlint.Settings, error) {
	paths := []string{f.settings}
	if f.settings == "" {
		paths = []string{planlint.SettingsFile}
		if f.config != "" {
			paths = append(paths, filepath.Join(f.config, planlint.SettingsFile))
		}
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		switch {
		case err == nil:
			return planlint.ParseSettings(filepath.ToSlash(path), content)
		case f.settings != "" || !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("read the settings: %w", err)
		}
	}
	return nil, nil
}

func (f *checkFlags) write(w io.Writer, result planlint.Result, document, version string) error {
	switch f.format {
	case "json":
		return planlint.WriteJSON(w, result)
	case "sarif":
		return planlint.WriteSARIF(w, result, document, version)
	default:
		return planlint.WriteText(w, result)
	}
}
