// Package cli is the command line: one file a command, and no rule of the domain.
package cli

import "github.com/spf13/cobra"

// New returns the root command. The version is that of the binary, without a leading v; generated modules ask for the library of
// the same version if it is a released one. Commands print their errors; the caller only turns an error into exit status 1.
func New(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "terraform-provider-idempotent",
		Short: "Scheduled jobs whose runs have one effect each, however often they are delivered",
		Long: `Scheduled jobs whose runs have one effect each, however often they are delivered.

Terraform and OpenTofu start this program as a provider. On the command line it generates the
handlers of jobs and helps to work on them.`,
		SilenceUsage: true,
		Args:         cobra.NoArgs,
		RunE:         func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newCallCommand(), newCheckCommand(version), newDevCommand(), newGenerate(version), newMigrate(), newRunsCommand(), newVersion(version), newWebhooksCommand())
	return root
}
