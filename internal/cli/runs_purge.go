package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// purger is a store that does not delete expired records by itself.
type purger interface {
	Purge(ctx context.Context) (int64, error)
}

func newRunsPurge(f *runsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "purge",
		Short: "Delete the records that have expired",
		Long: `Delete the records that have expired, in batches, and none whose lease still holds. Stores that delete
expired records by themselves are left to it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd.Context(), func(store claim.Store) error {
				p, ok := store.(purger)
				if !ok {
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "nothing to do: %s deletes expired records by itself\n", store.Caps().Store)
					return err
				}
				n, err := p.Purge(cmd.Context())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d expired records deleted\n", n)
				return err
			})
		},
	}
}
