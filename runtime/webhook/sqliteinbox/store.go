package sqliteinbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

const (
	// maxPayload is the longest payload in bytes: rows of many megabytes are no good in a queue.
	maxPayload = 16 << 20
	// purgeBatch is how many rows one transaction of Purge deletes, so that others wait for milliseconds only.
	purgeBatch = 500
)

// Accept stores the event in one statement, unless it is there.
func (s *Store) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	if err := driver.CheckPayload(e, maxPayload); err != nil {
		return webhook.Receipt{}, err
	}
	r := e.Record()
	payload := e.Payload
	if payload == nil { // which would be NULL
		payload = []byte{}
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return webhook.Receipt{}, err
	}
	defer unlock()
	receipt := webhook.Receipt{Duplicate: true}
	err = each(ctx, s.db, func(rows *sql.Rows) error {
		var attemptID string
		err := rows.Scan(&attemptID)
		receipt.Duplicate = attemptID != r.AttemptID
		receipt.Differs = receipt.Duplicate
		return err
	}, s.sql.accept, e.ID, string(r.Status),
		r.AttemptID, r.Attempt, r.Counted, r.Rev, r.Run, r.Fingerprint, e.Source, e.WebhookID, payload, e.ContentType)
	if err != nil {
		return webhook.Receipt{}, fmt.Errorf("store event in sqlite: %w", err)
	}
	return receipt, nil
}

// Due finds events that are due, and moves the due time of those that are due still: an idle worker only reads.
func (s *Store) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	found, err := s.query(ctx, s.sql.due, limit)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	due := make([]string, len(found))
	for i, e := range found {
		due[i] = e.ID
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	taken, err := ids(ctx, s.db, s.sql.hold, list(due), fmt.Sprintf("%+f seconds", hold.Seconds()))
	if err != nil {
		return nil, fmt.Errorf("hold due events in sqlite: %w", err)
	}
	return slices.DeleteFunc(found, func(e webhook.Event) bool { return !slices.Contains(taken, e.ID) }), nil
}

// Load returns the event.
func (s *Store) Load(ctx context.Context, id string) (webhook.Event, error) {
	found, err := s.query(ctx, s.sql.load, id)
	if err != nil {
		return webhook.Event{}, err
	}
	if len(found) == 0 {
		return webhook.Event{}, claim.ErrNotFound
	}
	return found[0], nil
}

// MaxPayload is 16 MiB.
func (*Store) MaxPayload() int { return maxPayload }

// Purge deletes the completed events whose expire_at has passed, batch by batch, and returns how many. An error leaves deleted what the
// batches before it deleted.
func (s *Store) Purge(ctx context.Context) (deleted int64, err error) {
	for {
		n, err := s.purgeOnce(ctx)
		if err != nil {
			return deleted, fmt.Errorf("purge events in sqlite: %w", err)
		}
		if deleted += int64(n); n < purgeBatch {
			return deleted, nil
		}
	}
}

// purgeOnce deletes events and what the guards know of their parts. The first statement takes the write lock.
func (s *Store) purgeOnce(ctx context.Context) (int, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, classify(err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	gone, err := ids(ctx, tx, s.sql.purge, purgeBatch)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, s.sql.parts, list(gone)); err != nil {
		return 0, classify(err)
	}
	return len(gone), classify(tx.Commit())
}

// list is the ids as JSON.
func list(ids []string) string {
	text, _ := json.Marshal(ids) // strings can always be encoded
	return string(text)
}

// lock waits for the other writes of this inbox in this process. An error says that nothing was sent.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case s.writer <- struct{}{}:
		return func() { <-s.writer }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another write: %w: %w", claim.ErrConflict, context.Cause(ctx))
	}
}

// querier is *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each runs a statement to its end, which is where SQLite commits it, and hands over the rows that it returns.
func each(ctx context.Context, q querier, row func(*sql.Rows) error, statement string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return classify(err)
	}
	defer func() { err = errors.Join(err, classify(rows.Close())) }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return classify(rows.Err())
}

// ids runs a statement that returns ids.
func ids(ctx context.Context, q querier, statement string, args ...any) (found []string, err error) {
	err = each(ctx, q, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		found = append(found, id)
		return err
	}, statement, args...)
	return found, err
}

// query reads events.
func (s *Store) query(ctx context.Context, statement string, args ...any) (found []webhook.Event, err error) {
	err = each(ctx, s.db, func(rows *sql.Rows) error {
		var (
			e        webhook.Event
			received sql.NullString
		)
		if err := rows.Scan(&e.ID, &e.Name, &e.Source, &e.WebhookID, &e.Payload, &e.ContentType, &e.Fingerprint, &received, &e.Conflicts); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, received.String)
		if err != nil {
			return fmt.Errorf("received_at of event %s: %w", e.ID, err)
		}
		e.ReceivedAt = at.UTC()
		found = append(found, e)
		return nil
	}, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("read events from sqlite: %w", err)
	}
	return found, nil
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	const primary = 0xff // the low byte of an extended result code
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & primary {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w: %w", claim.ErrConflict, err)
		}
	}
	return err
}
