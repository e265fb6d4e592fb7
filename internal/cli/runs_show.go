package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func newRunsShow(f *runsFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the record of one run",
		Long:  `Show the record of one run, which is named by its id or by its whole name.`,
		Example: `  terraform-provider-idempotent runs show --store sqlite:claims.db \
    projects/acme-prod/locations/europe-west1/jobs/nightly-report/runs/2026-10-16T12:00:00Z`,
		Args: one("RUN", "the id of a run or its whole name, which runs list prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd.Context(), func(store claim.Store) error {
				found, err := find(cmd.Context(), store, f.runName(cmd, args[0]))
				if err != nil {
					return err
				}
				row := newRunRow(found)
				if f.json {
					return printJSON(cmd.OutOrStdout(), row)
				}
				return row.print(cmd.OutOrStdout())
			})
		},
	}
	f.addJSON(cmd)
	f.addTenant(cmd)
	return cmd
}

// print writes one field a line and leaves out what is not there.
func (r runRow) print(w io.Writer) error {
	table := newTable(w)
	var errs []error
	line := func(name, value string) {
		if value == "" {
			return
		}
		_, err := fmt.Fprintf(table, "%s\t%s\n", name, value)
		errs = append(errs, err)
	}
	status := printable(r.Status)
	if r.Stuck {
		status += ", stuck: its lease is over"
	}
	line("run", printable(r.Run))
	line("id", r.ID)
	line("status", status)
	line("attempt", fmt.Sprintf("%d, %d of them counted towards max_attempts", r.Attempt, r.Counted))
	line("attempt id", printable(r.AttemptID))
	line("holder", printable(r.Holder))
	line("claimed", r.at(r.ClaimedAt))
	line("written", r.at(r.WrittenAt))
	line("lease", map[bool]string{true: r.lease()}[r.live])
	line("expires", r.at(r.ExpireAt))
	line("last error", printable(r.LastError))
	line("fingerprint", printable(r.Fingerprint))
	if r.ResultBytes > 0 {
		line("result", fmt.Sprintf("%d bytes", r.ResultBytes))
	}
	return errors.Join(append(errs, table.Flush())...)
}

// at is a time and how far it is from the store's present.
func (r runRow) at(t *time.Time) string {
	if t == nil {
		return ""
	}
	distance := "in " + coarse(t.Sub(r.Now))
	if !t.After(r.Now) {
		distance = ago(r.Now.Sub(*t))
	}
	return t.Format(time.RFC3339) + " (" + distance + ")"
}
