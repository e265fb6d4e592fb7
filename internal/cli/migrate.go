package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func newMigrate() *cobra.Command {
	var enforce bool
	var out string
	cmd := &cobra.Command{
		Use:   "migrate FILE",
		Short: "Write the configuration that takes over jobs of google_cloud_scheduler_job",
		Long: `Write the configuration that takes over jobs of google_cloud_scheduler_job.

FILE is the output of terraform show -json or tofu show -json, of a state or a plan, or of terraform
state pull; - reads it from standard input. Written are a resource for each job, a moved block for
each instance, and a list of what stays and why. Nothing is asked of the network, and no file of the
configuration is touched.

The resources observe: headers are injected and nothing else changes. Deploy the handlers, then
remove the deduplication block to enforce.

Values that are marked as sensitive, and headers that look like secrets, become variables; they are
never written.`,
		Example: `  terraform show -json | terraform-provider-idempotent migrate - > jobs.tf
  terraform state pull | terraform-provider-idempotent migrate --out jobs.tf -`,
		Args: one("FILE", "what terraform show -json wrote, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return migrate(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], out, enforce)
		},
	}
	cmd.Flags().BoolVar(&enforce, "enforce", false, "leave out mode observe: prove the jobs at once")
	cmd.Flags().StringVar(&out, "out", "", "the file to write, which must not be there yet (default standard output)")
	return cmd
}

func migrate(stdin io.Reader, stdout io.Writer, file, out string, enforce bool) error {
	input := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		defer func() { _ = opened.Close() }()
		input = opened
	}
	jobs, err := readIncumbents(input)
	if err != nil {
		return fmt.Errorf("%s: %w", documentName(file), err)
	}
	text := migration{enforce: enforce}.write(jobs)
	if out == "" {
		if _, err := stdout.Write(text); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
		return nil
	}
	created, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // configuration that others read
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := created.Write(text); err != nil {
		_ = created.Close()
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := created.Close(); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}
