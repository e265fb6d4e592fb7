package postgresinbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

const (
	// maxPayload is the longest payload in bytes: rows of many megabytes are no good in a queue.
	maxPayload = 16 << 20
	// purgeBatch is how many rows one transaction of Purge deletes.
	purgeBatch = 1000
	// exec sends a statement in one round trip, as postgresclaim does.
	exec = pgx.QueryExecModeExec
)

// Accept stores the event in one statement, unless it is there.
func (s *Store) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	if err := driver.CheckPayload(e, maxPayload); err != nil {
		return webhook.Receipt{}, err
	}
	r := e.Record()
	var attemptID string
	err := s.pool.QueryRow(ctx, s.sql.accept, exec, e.ID, string(r.Status), r.AttemptID, r.Attempt, r.Counted, r.Rev, r.Run, r.Fingerprint,
		e.Source, e.WebhookID, notNull(e.Payload), e.ContentType).Scan(&attemptID)
	if errors.Is(err, pgx.ErrNoRows) {
		return webhook.Receipt{Duplicate: true}, nil
	}
	if err != nil {
		return webhook.Receipt{}, fmt.Errorf("store event in postgres: %w", classify(err))
	}
	other := attemptID != r.AttemptID
	return webhook.Receipt{Duplicate: other, Differs: other}, nil
}

// notNull is an empty payload for none.
func notNull(payload []byte) []byte {
	if payload == nil {
		return []byte{}
	}
	return payload
}

// Due takes events that are due, past those that another call is taking, and moves their due time by hold, in one statement.
func (s *Store) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	rows, err := s.pool.Query(ctx, s.sql.due, exec, limit, hold.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("find due events in postgres: %w", classify(err))
	}
	type dueEvent struct {
		at    time.Time
		event webhook.Event
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d dueEvent, err error) {
		d.event, err = scan(row, &d.at)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("find due events in postgres: %w", classify(err))
	}
	slices.SortFunc(found, func(a, b dueEvent) int { return a.at.Compare(b.at) })
	events := make([]webhook.Event, len(found))
	for i, d := range found {
		events[i] = d.event
	}
	return events, nil
}

// Load returns the event.
func (s *Store) Load(ctx context.Context, id string) (webhook.Event, error) {
	e, err := scan(s.pool.QueryRow(ctx, s.sql.load, exec, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return e, claim.ErrNotFound
	}
	if err != nil {
		return e, fmt.Errorf("read event from postgres: %w", classify(err))
	}
	return e, nil
}

// MaxPayload is 16 MiB.
func (*Store) MaxPayload() int { return maxPayload }

// Purge deletes the completed events whose expire_at has passed, batch by batch, and returns how many. An error leaves deleted what the
// batches before it deleted.
func (s *Store) Purge(ctx context.Context) (deleted int64, err error) {
	for {
		var n int64
		if err := s.pool.QueryRow(ctx, s.sql.purge, exec, purgeBatch).Scan(&n); err != nil {
			return deleted, fmt.Errorf("purge events in postgres: %w", classify(err))
		}
		if deleted += n; n < purgeBatch {
			return deleted, nil
		}
	}
}

// scan reads a row of the columns in event, after those that go to before.
func scan(row pgx.Row, before ...any) (e webhook.Event, err error) {
	err = row.Scan(append(before, &e.ID, &e.Name, &e.Source, &e.WebhookID, &e.Payload, &e.ContentType, &e.Fingerprint, &e.ReceivedAt, &e.Conflicts)...)
	e.ReceivedAt = e.ReceivedAt.UTC()
	return e, err
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	const serialization, deadlock, lockTimeout = "40001", "40P01", "55P03"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == serialization || e.Code == deadlock || e.Code == lockTimeout) {
		return fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}
	return err
}
