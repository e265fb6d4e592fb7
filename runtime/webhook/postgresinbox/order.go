package postgresinbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// Later is the guard for events that carry the whole state of an entity. It reports whether (event time, id) is later than that of every
// event that was applied to the entity, and remembers it if so, in the transaction that applies it: call it in the body of
// postgresclaim.CompleteTx with the context of the work, and return webhook.ErrSuperseded if it is false. Event time is when the event
// happened, by its payload, never webhook-timestamp; it counts to the microsecond. Of events of one time the one with the greater id
// is later. Entities are told apart by their names alone, over all sources of the inbox, and remembered for good.
func Later(ctx context.Context, tx pgx.Tx, entity string, eventTime time.Time, id string) (bool, error) {
	return later(ctx, pgxTx{tx}, entity, eventTime, id)
}

// LaterSQL is Later for postgresclaim.CompleteSQLTx.
func LaterSQL(ctx context.Context, tx *sql.Tx, entity string, eventTime time.Time, id string) (bool, error) {
	return later(ctx, sqlTx{tx}, entity, eventTime, id)
}

// Once is the guard for events that carry a part of something (a partial cost). It reports whether the part with that id was not added to
// the entity before, and remembers it if so, in the transaction that adds it. Id is the event's, or one that the payload gives the part,
// when several events may tell of it. It is remembered as long as the event is kept.
func Once(ctx context.Context, tx pgx.Tx, entity, id string) (bool, error) {
	return once(ctx, pgxTx{tx}, entity, id)
}

// OnceSQL is Once for postgresclaim.CompleteSQLTx.
func OnceSQL(ctx context.Context, tx *sql.Tx, entity, id string) (bool, error) {
	return once(ctx, sqlTx{tx}, entity, id)
}

func later(ctx context.Context, tx transaction, entity string, eventTime time.Time, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckState(entity, eventTime, id)
	}
	if err != nil {
		return false, fmt.Errorf("postgresinbox.Later: %w", err)
	}
	applied, err := tx.changes(ctx, s.sql.later, entity, eventTime.UTC().Truncate(time.Microsecond), id)
	if err != nil {
		return false, fmt.Errorf("guard the order of entity %s: %w", entity, classify(err))
	}
	return applied, nil
}

func once(ctx context.Context, tx transaction, entity, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckPart(entity, id)
	}
	if err != nil {
		return false, fmt.Errorf("postgresinbox.Once: %w", err)
	}
	attempt, _ := claim.FromContext(ctx) // there is one, since there is an inbox
	added, err := tx.changes(ctx, s.sql.once, entity, id, attempt.RunID())
	if err != nil {
		return false, fmt.Errorf("guard a part of entity %s: %w", entity, classify(err))
	}
	return added, nil
}

// transaction runs a statement and says whether it changed a row.
type transaction interface {
	changes(ctx context.Context, statement string, args ...any) (bool, error)
}

type pgxTx struct{ tx pgx.Tx }

func (t pgxTx) changes(ctx context.Context, statement string, args ...any) (bool, error) {
	tag, err := t.tx.Exec(ctx, statement, args...)
	return tag.RowsAffected() > 0, err
}

type sqlTx struct{ tx *sql.Tx }

func (t sqlTx) changes(ctx context.Context, statement string, args ...any) (bool, error) {
	result, err := t.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
