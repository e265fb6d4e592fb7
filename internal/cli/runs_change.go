package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// change is what an operator does to a run by hand.
type change struct {
	attemptID string
	force     bool
	to        claim.Status
}

func newRunsRelease(f *runsFlags) *cobra.Command {
	return newRunsChange(f, claim.StatusReleased, &cobra.Command{
		Use:   "release RUN --attempt ATTEMPT_ID",
		Short: "Give a run back, so that its next delivery does the work again",
		Long: `Give a run back, so that its next delivery does the work again, and its attempts count from nothing.

The attempt that is meant is named, as runs list shows it: if another one has come since, nothing is changed. An attempt whose
lease still holds may be at work right now; --force takes the run away from it all the same.`,
		Example: `  terraform-provider-idempotent runs release --store sqlite:claims.db --attempt 5d027c1742a2cc3e3d9cda758cfd5c73 RUN`,
	})
}

func newRunsComplete(f *runsFlags) *cobra.Command {
	return newRunsChange(f, claim.StatusCompleted, &cobra.Command{
		Use:   "complete RUN --attempt ATTEMPT_ID",
		Short: "Record that the work of a run was done, so that no delivery does it again",
		Long: `Record that the work of a run was done, so that no delivery does it again.

The attempt that is meant is named, as runs list shows it: if another one has come since, nothing is changed. An attempt whose
lease still holds may be at work right now; --force completes the run all the same.`,
		Example: `  terraform-provider-idempotent runs complete --store sqlite:claims.db --attempt 5d027c1742a2cc3e3d9cda758cfd5c73 RUN`,
	})
}

func newRunsChange(f *runsFlags, to claim.Status, cmd *cobra.Command) *cobra.Command {
	c := change{to: to}
	cmd.Args = one("RUN", "the id of a run or its whole name, which runs list prints")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.attemptID == "" {
			return errors.New("--attempt is missing: name the attempt that you mean by its id, as runs list and runs show print it")
		}
		return f.with(cmd.Context(), func(store claim.Store) error {
			found, said, err := c.apply(cmd.Context(), store, f.runName(cmd, args[0]))
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(cmd.OutOrStdout(), newRunRow(found))
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		})
	}
	f.addJSON(cmd)
	f.addTenant(cmd)
	cmd.Flags().StringVar(&c.attemptID, "attempt", "", "id of the attempt that is meant")
	cmd.Flags().BoolVar(&c.force, "force", false, "also when the attempt's lease still holds")
	return cmd
}

// changeTries is how often a write whose reply was lost is looked after.
const changeTries = 3

// apply writes the change over the attempt that is meant, by compare-and-swap, and returns what is there then.
func (c change) apply(ctx context.Context, store claim.Store, arg string) (claim.Snapshot, string, error) {
	var failed error
	for range changeTries {
		found, err := find(ctx, store, arg)
		if err != nil {
			return found, "", errors.Join(failed, err)
		}
		if found.AttemptID == c.attemptID && found.Status == c.to {
			if failed != nil { // the write whose reply was lost
				return found, c.said(found), nil //nolint:nilerr // the earlier errors are of writes whose reply was lost
			}
			return found, fmt.Sprintf("the run was %s already", c.to), nil
		}
		if err := c.check(found); err != nil {
			return found, "", errors.Join(failed, err)
		}
		next := c.record(found)
		written, ok, err := store.Swap(ctx, found.ID, found.Version, next)
		if err == nil && ok {
			written.ID, written.Record = found.ID, next
			return written, c.said(written), nil
		}
		failed = errors.Join(failed, err)
	}
	return claim.Snapshot{}, "", errors.Join(errors.New("the record kept changing, or the store did not answer: look at it with runs show and try again"), failed)
}

// check refuses to touch another attempt than the one that is meant, or one that may be at work.
func (c change) check(found claim.Snapshot) error {
	row := newRunRow(found)
	switch {
	case strings.HasPrefix(found.Run, run.WebhookPrefix):
		return errors.New("nothing was changed: this is the event of a webhook, which is kept until it is done: see webhooks requeue")
	case found.AttemptID != c.attemptID:
		return fmt.Errorf("nothing was changed: the run's attempt is %s by now (attempt %d, %s), not %s: look at it with runs show",
			dash(found.AttemptID), found.Attempt, printable(string(found.Status)), printable(c.attemptID))
	case row.live && row.left > 0 && !c.force:
		return fmt.Errorf("nothing was changed: the lease of this attempt holds for %s more, so it may be at work right now: wait, or add --force",
			coarse(row.left))
	default:
		return nil
	}
}

// keptAfter is how long a record that was changed by hand is kept at least: as long as the default retention.
const keptAfter = 24 * time.Hour

// record is the record to write. It stays this attempt's, and its revision tells it from what the attempt may still write.
func (c change) record(found claim.Snapshot) claim.Record {
	r := found.Record
	r.Status = c.to
	r.Rev++
	r.Attempt = max(r.Attempt, 1)
	if at := found.Now.Add(keptAfter); r.ExpireAt.IsZero() || r.ExpireAt.Before(at) {
		r.ExpireAt = at.UTC()
	}
	r.LeaseExpires = found.Now.UTC()
	if c.to == claim.StatusReleased {
		r.Counted = 0
		r.LeaseExpires = time.Unix(0, 0).UTC()
	}
	return r
}

func (c change) said(found claim.Snapshot) string {
	if c.to == claim.StatusReleased {
		return fmt.Sprintf("released: the next delivery of %s does the work again", newRunRow(found).name())
	}
	return fmt.Sprintf("completed: deliveries of %s are duplicates from now on", newRunRow(found).name())
}
