package sqliteinbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// timeLayout is of one width, so that the texts sort as the times do.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// Later is the guard for events that carry the whole state of an entity. It reports whether (event time, id) is later than that of every
// event that was applied to the entity, and remembers it if so, in the transaction that applies it: call it in the body of
// sqliteclaim.CompleteTx with the context of the work, and return webhook.ErrSuperseded if it is false. Event time is when the event
// happened, by its payload, never webhook-timestamp; it counts to the microsecond. Of events of one time the one with the greater id
// is later. Entities are told apart by their names alone, over all sources of the inbox, and remembered for good.
func Later(ctx context.Context, tx *sql.Tx, entity string, eventTime time.Time, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckState(entity, eventTime, id)
	}
	if err != nil {
		return false, fmt.Errorf("sqliteinbox.Later: %w", err)
	}
	applied, err := changes(ctx, tx, s.sql.later, entity, eventTime.UTC().Format(timeLayout), id)
	if err != nil {
		return false, fmt.Errorf("guard the order of entity %s: %w", entity, classify(err))
	}
	return applied, nil
}

// Once is the guard for events that carry a part of something (a partial cost). It reports whether the part with that id was not added to
// the entity before, and remembers it if so, in the transaction that adds it. Id is the event's, or one that the payload gives the part,
// when several events may tell of it. It is remembered as long as the event is kept.
func Once(ctx context.Context, tx *sql.Tx, entity, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckPart(entity, id)
	}
	if err != nil {
		return false, fmt.Errorf("sqliteinbox.Once: %w", err)
	}
	attempt, _ := claim.FromContext(ctx) // there is one, since there is an inbox
	added, err := changes(ctx, tx, s.sql.once, entity, id, attempt.RunID())
	if err != nil {
		return false, fmt.Errorf("guard a part of entity %s: %w", entity, classify(err))
	}
	return added, nil
}

// changes runs a statement and says whether it changed a row.
func changes(ctx context.Context, tx *sql.Tx, statement string, args ...any) (bool, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
