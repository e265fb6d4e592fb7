package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// newWebhooksCommand is the operator's view of an inbox.
func newWebhooksCommand() *cobra.Command {
	f := &runsFlags{getenv: os.Getenv}
	cmd := &cobra.Command{
		Use:   "webhooks",
		Short: "See and requeue the webhooks whose work was given up",
		Long: `See and requeue the webhooks in an inbox whose work was given up, and create the inbox's tables.

The store is named by --store, or by the environment variable ` + run.EnvStore + `, as handlers read it.
Its table is ` + webhook.DefaultTable + ` where the URL names none.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f.addStore(cmd)
	cmd.AddCommand(newWebhooksInit(f), newWebhooksDead(f), newWebhooksShow(f), newWebhooksRequeue(f))
	return cmd
}

// inbox finds the inbox that is meant, and its URL.
func (f *runsFlags) inbox() (tables[webhook.Inbox], string, error) {
	d, url, err := f.driver()
	if err == nil && d.inbox.open == nil {
		err = fmt.Errorf("--store: %s keeps no webhooks, since it may lose what it has acknowledged: use another store", d.schemes[0])
	}
	return d.inbox, url, err
}

// withInbox opens the inbox for one command.
func (f *runsFlags) withInbox(ctx context.Context, do func(webhook.Inbox) error) error {
	d, url, err := f.inbox()
	if err != nil {
		return err
	}
	if err := present(url); err != nil {
		return err
	}
	inbox, err := d.open(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(do(inbox), inbox.Close())
}

func newWebhooksInit(f *runsFlags) *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create the tables of an inbox, or print how",
		Long: `Create the tables of an inbox where they are missing, or, with --print, print the statements or commands
that would. Tables that are there are left as they are.`,
		Example: `  terraform-provider-idempotent webhooks init --store 'postgres://app@db.internal/app'
  terraform-provider-idempotent webhooks init --store 'firestore://my-project' --print`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, url, err := f.inbox()
			if err != nil {
				return err
			}
			return d.init(cmd, url, printOnly)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "print what would be done, without reaching the store")
	return cmd
}

func newWebhooksDead(f *runsFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List the webhooks whose work was given up, the oldest first",
		Long: `List the webhooks whose work was given up: its attempts were used up, or it failed for good, or its outcome
is open. They are kept until they are requeued.`,
		Example: `  terraform-provider-idempotent webhooks dead --store 'postgres://app@db.internal/app' --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withInbox(cmd.Context(), func(inbox webhook.Inbox) error {
				rows := []deadRow{}
				for e, err := range webhook.Dead(cmd.Context(), inbox) {
					if err != nil {
						return err
					}
					rows = append(rows, newDeadRow(e))
				}
				slices.SortStableFunc(rows, func(a, b deadRow) int { return a.Since.Compare(b.Since) })
				if f.json {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printDead(cmd.OutOrStdout(), rows)
			})
		},
	}
	f.addJSON(cmd)
	return cmd
}

// deadRow is a dead event as operators see it, without its payload.
type deadRow struct {
	ID        string    `json:"id"`
	Source    string    `json:"source"`
	WebhookID string    `json:"webhook_id"`
	Status    string    `json:"status"`
	Since     time.Time `json:"since"`
	Attempts  int       `json:"attempts"`
	AttemptID string    `json:"attempt_id"`
	LastError string    `json:"last_error,omitempty"`
}

func newDeadRow(e webhook.DeadEvent) deadRow {
	return deadRow{
		ID: e.ID, Source: e.Source, WebhookID: e.WebhookID, Status: string(e.Status), Since: e.Since.UTC(), Attempts: e.Attempts,
		AttemptID: e.AttemptID, LastError: e.LastError,
	}
}

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

func printDead(w io.Writer, rows []deadRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no dead webhooks")
		return err
	}
	table := newTable(w)
	_, err := fmt.Fprintln(table, "STATUS\tSINCE\tATTEMPTS\tATTEMPT ID\tSOURCE\tWEBHOOK ID\tEVENT\tLAST ERROR")
	for _, r := range rows {
		_, e := fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Status, r.Since.Format(time.RFC3339), r.Attempts, dash(r.AttemptID),
			dash(r.Source), dash(r.WebhookID), r.ID, dash(r.LastError))
		err = errors.Join(err, e)
	}
	return errors.Join(err, table.Flush())
}

// shownEvent is an event with its record. The payload is there when it was asked for: as text, or else in base64.
type shownEvent struct {
	runRow

	Source        string    `json:"source"`
	WebhookID     string    `json:"webhook_id"`
	ReceivedAt    time.Time `json:"received_at"`
	ContentType   string    `json:"content_type,omitempty"`
	Conflicts     int       `json:"conflicts,omitempty"`
	PayloadBytes  int       `json:"payload_bytes"`
	Payload       string    `json:"payload,omitempty"`
	PayloadBase64 []byte    `json:"payload_base64,omitempty"`
}

func newWebhooksShow(f *runsFlags) *cobra.Command {
	var payload bool
	cmd := &cobra.Command{
		Use:   "show EVENT",
		Short: "Show one webhook and how its work stands",
		Long: `Show one webhook, whether its work is done or not, and how that stands. It is named by the id of its event, or,
with --source, by the webhook-id that its sender gave it.

The payload, which may hold what is not for every eye, is printed only with --payload: alone and byte for byte,
or with --json as a field.`,
		Example: `  terraform-provider-idempotent webhooks show msg_2KWPBgLlAfxdpx2AI54pPJ85f4W --source billing --payload`,
		Args:    one("EVENT", "the id of an event, which webhooks dead prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withInbox(cmd.Context(), func(inbox webhook.Inbox) error {
				event, err := inbox.Load(cmd.Context(), f.eventID(args[0]))
				if errors.Is(err, claim.ErrNotFound) {
					return noEvent(args[0])
				}
				if err != nil {
					return err
				}
				found, err := find(cmd.Context(), inbox, event.ID)
				if err != nil {
					return err
				}
				if payload && !f.json {
					_, err := cmd.OutOrStdout().Write(event.Payload)
					return err
				}
				return f.printEvent(cmd.OutOrStdout(), found, event, payload)
			})
		},
	}
	f.addJSON(cmd)
	f.addSource(cmd)
	cmd.Flags().BoolVar(&payload, "payload", false, "print the payload")
	return cmd
}

func (f *runsFlags) addSource(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.source, "source", "", "EVENT is the webhook-id that this source gave it, as the handler names the source")
}

// eventID reads how an event is named on the command line.
func (f *runsFlags) eventID(arg string) string {
	if f.source != "" {
		return webhook.NewEntry(f.source, arg, "", nil).ID
	}
	return runID(arg)
}

func noEvent(arg string) error {
	return fmt.Errorf("the inbox has no event %q: name it by its id, as webhooks dead lists it, or by its webhook-id and --source", arg)
}

func (f *runsFlags) printEvent(w io.Writer, found claim.Snapshot, e webhook.Event, payload bool) error {
	shown := shownEvent{
		runRow: newRunRow(found), Source: e.Source, WebhookID: e.WebhookID, ReceivedAt: e.ReceivedAt.UTC(), ContentType: e.ContentType,
		Conflicts: e.Conflicts, PayloadBytes: len(e.Payload),
	}
	if f.json {
		switch {
		case !payload:
		case utf8.Valid(e.Payload):
			shown.Payload = string(e.Payload)
		default:
			shown.PayloadBase64 = e.Payload
		}
		return printJSON(w, shown)
	}
	table := newTable(w)
	_, err := fmt.Fprintf(table, "source\t%s\nwebhook id\t%s\nreceived\t%s\npayload\t%d bytes %s\n", printable(e.Source), printable(e.WebhookID),
		shown.ReceivedAt.Format(time.RFC3339), len(e.Payload), printable(e.ContentType))
	if e.Conflicts > 0 {
		_, more := fmt.Fprintf(table, "conflicts\t%d deliveries had another body\n", e.Conflicts)
		err = errors.Join(err, more)
	}
	return errors.Join(err, table.Flush(), shown.print(w))
}

func newWebhooksRequeue(f *runsFlags) *cobra.Command {
	var attemptID string
	cmd := &cobra.Command{
		Use:   "requeue EVENT --attempt ATTEMPT_ID",
		Short: "Give a dead webhook back to the workers",
		Long: `Give a webhook whose work was given up back to the workers, which take it at once; its attempts count from nothing.

The attempt that is meant is named, as webhooks dead lists it: if another one has come since, nothing is changed.`,
		Args: one("EVENT", "the id of an event, which webhooks dead prints"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if attemptID == "" {
				return errors.New("--attempt is missing: name the attempt that you mean by its id, as webhooks dead prints it")
			}
			return f.withInbox(cmd.Context(), func(inbox webhook.Inbox) error {
				id := f.eventID(args[0])
				err := webhook.Requeue(cmd.Context(), inbox, id, attemptID)
				if errors.Is(err, claim.ErrNotFound) {
					return noEvent(args[0])
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "requeued: the workers take %s at once\n", id)
				return err
			})
		},
	}
	f.addSource(cmd)
	cmd.Flags().StringVar(&attemptID, "attempt", "", "id of the attempt that is meant")
	return cmd
}
