package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newRunsInit(f *runsFlags) *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create the table of a store, or print how",
		Long: `Create the table of a store where it is missing, or, with --print, print the statements or commands that
would. A table that is there is left as it is. Stores without tables are only reached.`,
		Example: `  terraform-provider-idempotent runs init --store 'postgres://app@db.internal/app'
  terraform-provider-idempotent runs init --store 'spanner://projects/p/instances/i/databases/d' --print`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, url, err := f.driver()
			if err != nil {
				return err
			}
			return d.claims.init(cmd, url, printOnly)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "print what would be done, without reaching the store")
	return cmd
}

// init creates the tables, or prints how.
func (t tables[S]) init(cmd *cobra.Command, url string, printOnly bool) error {
	if printOnly {
		text, err := t.ddl(url)
		if err != nil {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(), text)
		return err
	}
	if err := t.create(cmd.Context(), url); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "the store is ready")
	return err
}
