package spannerinbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// maxPayload is the longest payload kept, in bytes. A cell may hold 10 MiB, and so may a request with all that it carries.
const maxPayload = 4 << 20

// MaxPayload is the longest payload that the inbox takes, in bytes.
func (s *Store) MaxPayload() int { return maxPayload }

// Accept stores the event unless it is there, by one insert in a transaction that reads only if the insert found a row.
func (s *Store) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	if err := driver.CheckPayload(e, maxPayload); err != nil {
		return webhook.Receipt{}, fmt.Errorf("write event to spanner: %w", err)
	}

	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	var (
		r       = e.Record()
		insert  = insertion(s.table, e, r)
		receipt webhook.Receipt
	)

	err := s.transact(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		receipt = webhook.Receipt{}

		n, err := tx.Update(ctx, insert)
		if err != nil || n == 1 {
			return err
		}

		receipt, err = s.again(ctx, tx, e, r.AttemptID)

		return err
	})
	if err != nil {
		return webhook.Receipt{}, fmt.Errorf("write event to spanner: %w", explain(err, s.table))
	}

	return receipt, nil
}

// insertion makes the row where there is none. Columns that it leaves out are NULL.
func insertion(table string, e webhook.Entry, r claim.Record) spanner.Statement {
	payload := e.Payload
	if payload == nil { // a body of no bytes is no missing body
		payload = []byte{}
	}

	const now = "CURRENT_TIMESTAMP()"

	columns := []struct {
		name, expression string
		value            any
	}{
		{name: "id", value: e.ID},
		{name: "status", value: string(r.Status)},
		{name: "attempt_id", value: r.AttemptID},
		{name: "attempt", value: int64(r.Attempt)},
		{name: "counted", value: int64(r.Counted)},
		{name: "rev", value: r.Rev},
		{name: "written_at", expression: "PENDING_COMMIT_TIMESTAMP()"},
		{name: "lease", value: r.Lease.Microseconds()},
		{name: "lease_expires", expression: now},
		{name: "run", value: r.Run},
		{name: "fingerprint", value: r.Fingerprint},
		{name: "source", value: e.Source},
		{name: "webhook_id", value: e.WebhookID},
		{name: "payload", value: payload},
		{name: "content_type", value: spanner.NullString{StringVal: e.ContentType, Valid: e.ContentType != ""}},
		{name: "received_at", expression: now},
		{name: "conflicts", value: int64(0)},
	}

	var (
		names, values []string
		params        = map[string]any{}
	)

	for _, c := range columns {
		names = append(names, c.name)

		if c.expression == "" {
			c.expression, params[c.name] = "@"+c.name, c.value
		}

		values = append(values, c.expression)
	}

	return spanner.Statement{
		SQL:    fmt.Sprintf("INSERT OR IGNORE INTO `%s` (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(values, ", ")),
		Params: params,
	}
}

// again judges the row that was there: it may be what this call wrote in an earlier round, whose reply was lost.
func (s *Store) again(ctx context.Context, tx *spanner.ReadWriteTransaction, e webhook.Entry, attemptID string) (webhook.Receipt, error) {
	row, err := tx.ReadRow(ctx, s.table, spanner.Key{e.ID}, []string{"fingerprint", "attempt_id"})
	if err != nil {
		return webhook.Receipt{}, err
	}

	var (
		fingerprint spanner.NullString
		found       string
	)

	if err := row.Columns(&fingerprint, &found); err != nil {
		return webhook.Receipt{}, fmt.Errorf("read a row: %w", err)
	}

	receipt := webhook.Receipt{Duplicate: found != attemptID, Differs: fingerprint.StringVal != e.Fingerprint}
	if !receipt.Differs {
		return receipt, nil
	}

	_, err = tx.Update(ctx, spanner.Statement{
		SQL: fmt.Sprintf("UPDATE `%s` SET conflicts = conflicts + 1 WHERE id = @id", s.table), Params: map[string]any{"id": e.ID},
	})

	return receipt, err
}

const (
	// transactTries is how often a transaction is run that met another and that the client does not repeat by itself.
	transactTries = 5
	firstPause    = 10 * time.Millisecond
)

// transact runs a read-write transaction that is harmless when it is repeated, also after it was committed.
func (s *Store) transact(ctx context.Context, body func(context.Context, *spanner.ReadWriteTransaction) error) error {
	for try := range transactTries {
		_, err := s.client.ReadWriteTransactionWithOptions(ctx, body,
			spanner.TransactionOptions{BeginTransactionOption: spanner.InlinedBeginTransaction})
		if err = classify(err); !errors.Is(err, claim.ErrConflict) || try == transactTries-1 {
			return err
		}

		pause := time.NewTimer(rand.N(firstPause << try)) //nolint:gosec // chance, no secret
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()

			return err
		}
	}

	return nil
}

// classify marks errors that a retry may mend. The emulator knows one transaction at a time of a client and says in several ways, all
// of which name the transaction, that another one ended it; Spanner itself does not say this.
func classify(err error) error {
	code := spanner.ErrCode(err)
	emulated := []codes.Code{codes.NotFound, codes.FailedPrecondition}

	if code == codes.Aborted || slices.Contains(emulated, code) && strings.Contains(strings.ToLower(err.Error()), "transaction") {
		return fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}

	return err
}
