package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// ErrOutdated is returned by generate --check for a folder that differs from what would be generated.
var ErrOutdated = errors.New("the folder is out of date: generate it again without --check")

type generateFlags struct {
	spec     generator.Spec
	policy   []string
	forward  []string
	webhook  []string
	api      []string
	specFile string
	from     string
	out      string
	check    bool
	force    bool
}

func newGenerate(version string) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write or check the folder of a handler",
		Long: `Write or check the folder of a handler: a Go module that serves the deliveries of jobs, receives webhooks or
guards an API.

Files ending in _gen.go and the manifest .idempotent.json are rewritten at each generation; all
others are yours, written once and never touched again. A second run writes nothing.`,
		Example: `  terraform-provider-idempotent generate --name nightly-report --job nightly-report \
    --store 'firestore://my-project/(default)/scheduler_runs' --out handlers/nightly-report
  terraform-provider-idempotent generate --name billing --kind webhook --store postgres --out handlers/billing \
    --webhook events=invoice.paid,customer.created --webhook secrets=BILLING_SECRET --webhook retry_horizon=120h
  terraform-provider-idempotent generate --name orders --kind api --store postgres --out handlers/orders \
    --api window=24h --api tenant_header=X-Workspace --api codes.reused=E01005
  terraform show -json plan.out > plan.json
  terraform-provider-idempotent generate --from plan.json
  terraform-provider-idempotent generate --spec handler.yaml --out handlers/nightly-report --check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, version) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.spec.Name, "name", "", "the handler's name; the folder belongs to it")
	flags.StringVar(&f.spec.Kind, "kind", "", "where the handler runs: "+strings.Join(generator.Kinds(), ", ")+" (default http)")
	flags.StringVar(&f.spec.Module, "module", "", "path of the Go module (default example.com/ and the name)")
	flags.StringVar(&f.spec.Package, "package", "", "name of the Go package (default main)")
	flags.StringArrayVar(&f.spec.Jobs, "job", nil, "a job that the handler serves, repeatable (default any job)")
	flags.StringVar(&f.spec.Project, "project", "", "project to assume when neither a delivery nor the environment names one")
	flags.StringVar(&f.spec.Region, "region", "", "region to assume likewise")
	flags.StringVar(&f.spec.Store, "store", "", "where claims are kept: a URL without a password, or a scheme alone: "+strings.Join(generator.StoreSchemes(), ", "))
	flags.StringArrayVar(&f.forward, "forward", nil, "what a job starts, for kinds that forward, as JOB=TARGET, repeatable; --spec takes more")
	flags.StringArrayVar(&f.webhook, "webhook", nil, "what kind webhook receives, as KEY=VALUE, repeatable: "+strings.Join(webhookFields(&generator.Webhook{}).names(), ", "))
	flags.StringArrayVar(&f.api, "api", nil, "how kind api guards requests, as KEY=VALUE, repeatable, such as codes.reused=E01005: "+
		strings.Join(apiFields(&generator.API{}).names(), ", "))
	flags.StringArrayVar(&f.policy, "policy", nil, "a setting of the handler's own policy as key=value, such as lease=210s, repeatable")
	flags.StringVar(&f.spec.RuntimeVersion, "runtime-version", "", "version of the library in go.mod (default this program's)")
	specFlags := []string{"name", "kind", "module", "package", "job", "project", "region", "store", "policy", "forward", "webhook", "api", "runtime-version"}

	flags.StringVar(&f.specFile, "spec", "", "read all of the above from a YAML or JSON file")
	flags.StringVar(&f.from, "from", "", "take the handlers, or the one of --name, from a plan or state that terraform show -json wrote")
	flags.StringVar(&f.out, "out", "", "the handler's folder; with --from, where relative output_dirs start (default .)")
	flags.BoolVar(&f.check, "check", false, "write nothing: show what would change and exit 1 if anything would")
	flags.BoolVar(&f.force, "force", false, "take back files of ours that were edited, and write deleted ones again")
	cmd.MarkFlagsMutuallyExclusive("check", "force")
	cmd.MarkFlagsMutuallyExclusive("from", "spec")
	for _, name := range specFlags {
		cmd.MarkFlagsMutuallyExclusive("spec", name)
		if name != "name" {
			cmd.MarkFlagsMutuallyExclusive("from", name)
		}
	}
	return cmd
}

func (f *generateFlags) run(cmd *cobra.Command, version string) error {
	if f.from != "" {
		return f.runFrom(cmd.OutOrStdout())
	}
	if f.out == "" {
		return errors.New("--out is missing: name the handler's folder")
	}
	files, err := f.plan(version)
	if err != nil {
		return err
	}
	return f.write(cmd.OutOrStdout(), f.out, "", files)
}

// runFrom writes the handlers of a plan or state. One that cannot be written does not keep the others from it.
func (f *generateFlags) runFrom(out io.Writer) error {
	handlers, err := readPlanned(f.from, f.spec.Name)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range handlers {
		if err := f.write(out, h.folder(f.out), filepath.ToSlash(h.dir)+"/", h.files); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", h.address, err))
		}
	}
	return errors.Join(errs...)
}

// write brings the files into the folder and prints what changed, each path after the prefix.
func (f *generateFlags) write(out io.Writer, dir, prefix string, files []generator.File) error {
	report, err := generator.Write(dir, files, f.mode())
	if err != nil {
		return err
	}
	if f.check {
		return showDiff(out, prefix, report)
	}
	return showWritten(out, prefix, report)
}

func (f *generateFlags) plan(version string) ([]generator.File, error) {
	if f.specFile != "" {
		return planFile(f.specFile, version)
	}
	policy, err := parsePolicyFlags(f.policy)
	if err != nil {
		return nil, err
	}
	f.spec.Policy = policy
	if f.spec.Forward, err = parseForwardFlags(f.forward); err != nil {
		return nil, err
	}
	if err := f.readParts(); err != nil {
		return nil, err
	}
	files, err := generator.Plan(withVersion(f.spec, version))
	return files, eachSpecError(err, flagError)
}

// readParts reads the parts of the spec that only kinds webhook and api have.
func (f *generateFlags) readParts() error {
	if len(f.webhook) > 0 {
		f.spec.Webhook = &generator.Webhook{}
		if err := parsePartFlags(f.webhook, webhookFields(f.spec.Webhook)); err != nil {
			return err
		}
	}
	if len(f.api) == 0 {
		return nil
	}
	f.spec.API = &generator.API{}
	return parsePartFlags(f.api, apiFields(f.spec.API))
}

func (f *generateFlags) mode() generator.Mode {
	switch {
	case f.check:
		return generator.Check
	case f.force:
		return generator.Force
	default:
		return generator.Apply
	}
}

// withVersion makes generated modules ask for this program's own version of the library, where it is a released one.
func withVersion(spec generator.Spec, version string) generator.Spec {
	if v := "v" + version; spec.RuntimeVersion == "" && semver.Canonical(v) == v && semver.Prerelease(v) == "" {
		spec.RuntimeVersion = v
	}
	return spec
}

// flagError names the flag instead of the field.
func flagError(e *generator.SpecError) error {
	flag, rest, _ := strings.Cut(e.Field, ".")
	flag, _, _ = strings.Cut(flag, "[")
	switch flag {
	case "jobs":
		flag = "job"
	case "runtime_version":
		flag = "runtime-version"
	}
	if rest != "" {
		flag += " " + rest
	}
	return &generator.SpecError{Field: "--" + flag, Value: e.Value, Reason: e.Reason}
}

// eachSpecError applies a change to each error of a spec that Plan joined; other errors stay as they are.
func eachSpecError(err error, change func(*generator.SpecError) error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var all []error
	for _, e := range joined.Unwrap() {
		if spec, ok := errors.AsType[*generator.SpecError](e); ok {
			e = change(spec)
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// showDiff prints the diff, below the name of the folder where there may be several; tools that apply patches skip that line.
func showDiff(out io.Writer, prefix string, report generator.Report) error {
	if !report.Changed() {
		return nil
	}
	heading := ""
	if prefix != "" {
		heading = "in " + prefix + "\n"
	}
	if _, err := io.WriteString(out, heading+report.Diff); err != nil {
		return err
	}
	return ErrOutdated
}

func showWritten(out io.Writer, prefix string, report generator.Report) error {
	if !report.Changed() {
		return nil
	}
	var lines []string
	for _, p := range report.Written {
		lines = append(lines, "wrote "+prefix+p)
	}
	for _, p := range report.Deleted {
		lines = append(lines, "deleted "+prefix+p)
	}
	for _, p := range report.Missing {
		lines = append(lines, "left out "+prefix+p+", which was deleted: --force writes it again")
	}
	slices.Sort(lines)
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
