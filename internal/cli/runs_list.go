package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func newRunsList(f *runsFlags) *cobra.Command {
	var (
		statuses []string
		all      bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs that are not completed, stuck ones first",
		Long: `List the runs that are not completed: since when, by whom, and for how much longer the lease holds.

First come those that are stuck, whose attempt let its lease lapse; then those that somebody must decide upon (unknown, failed),
those that wait for their next delivery (released), and those that are in progress; in each group the oldest first.`,
		Example: `  terraform-provider-idempotent runs list --store 'firestore://my-project/(default)/scheduler_runs'
  terraform-provider-idempotent runs list --store sqlite:claims.db --status failed,unknown --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := readStatuses(statuses, all)
			if err != nil {
				return err
			}
			return f.with(cmd.Context(), func(store claim.Store) error {
				rows := []runRow{}
				for found, err := range store.List(cmd.Context(), filter) {
					if err != nil {
						return err
					}
					rows = append(rows, newRunRow(found))
				}
				slices.SortStableFunc(rows, runRow.compare)
				if f.json {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printRows(cmd.OutOrStdout(), rows)
			})
		},
	}
	f.addJSON(cmd)
	cmd.Flags().StringSliceVar(&statuses, "status", nil, "only runs of these statuses: "+strings.Join(statusNames(), ", "))
	cmd.Flags().BoolVar(&all, "all", false, "all runs, completed ones and those of other code too")
	cmd.MarkFlagsMutuallyExclusive("status", "all")
	return cmd
}

func statusNames() []string {
	return []string{
		string(claim.StatusInProgress), string(claim.StatusReleased), string(claim.StatusFailed), string(claim.StatusUnknown),
		string(claim.StatusCompleted),
	}
}

func readStatuses(names []string, all bool) (claim.Filter, error) {
	var filter claim.Filter
	if all {
		return filter, nil
	}
	if len(names) == 0 {
		names = slices.DeleteFunc(statusNames(), func(s string) bool { return s == string(claim.StatusCompleted) })
	}
	for _, name := range names {
		if !slices.Contains(statusNames(), name) {
			return filter, fmt.Errorf("--status %q: the statuses are %s", name, strings.Join(statusNames(), ", "))
		}
		filter.Statuses = append(filter.Statuses, claim.Status(name))
	}
	return filter, nil
}

func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

func printRows(w io.Writer, rows []runRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no such runs")
		return err
	}
	table := newTable(w)
	_, err := fmt.Fprintln(table, "STATUS\tSINCE\tLEASE\tATTEMPT\tATTEMPT ID\tHOLDER\tRUN")
	for _, r := range rows {
		_, e := fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.word(), r.since(), r.lease(), r.Attempt, dash(r.AttemptID), dash(r.Holder), r.name())
		err = errors.Join(err, e)
	}
	return errors.Join(err, table.Flush())
}
