package spannerinbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/spanner"
	"cloud.google.com/go/spanner/apiv1/spannerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// Later is the guard of an entity for events that carry its whole state. True: (eventTime, id) is later than what was applied to the
// entity so far, and is now recorded as applied, in the transaction of the effect. False: it is not, also when it is the same; leave
// the effect out and return [webhook.ErrSuperseded], which completes the event.
//
// Tx is the transaction of the effect, as a rule that of [spannerclaim.CompleteTx], and ctx that of the work or derived from it.
// EventTime is the time of the change as the payload has it, not that of the delivery. Id orders events of one time; it must tell them
// apart in the same way in every delivery. Entities are told apart by their names alone, over all sources of the inbox, and remembered
// for good; a name may have some kilobytes, as keys may.
func Later(ctx context.Context, tx *spanner.ReadWriteTransaction, entity string, eventTime time.Time, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckState(entity, eventTime, id)
	}

	if err != nil {
		return false, fmt.Errorf("spannerinbox.Later: %w", err)
	}

	later, err := s.later(ctx, tx, entity, eventTime.UTC(), id)
	if err != nil {
		return false, fmt.Errorf("spannerinbox.Later: %w", explain(err, s.table+entitiesSuffix))
	}

	return later, nil
}

func (s *Store) later(ctx context.Context, tx *spanner.ReadWriteTransaction, entity string, eventTime time.Time, id string) (bool, error) {
	table := s.table + entitiesSuffix
	write := "UPDATE `%s` SET event_time = @event_time, id = @id WHERE entity = @entity"

	row, err := guarded(ctx, tx, table, spanner.Key{entity}, "event_time", "id")

	switch {
	case errors.Is(err, spanner.ErrRowNotFound):
		write = "INSERT INTO `%s` (entity, event_time, id) VALUES (@entity, @event_time, @id)"
	case err != nil:
		return false, err
	default:
		var (
			at    time.Time
			found string
		)

		if err := row.Columns(&at, &found); err != nil {
			return false, fmt.Errorf("read a row: %w", err)
		}

		if after := eventTime.Compare(at); after < 0 || after == 0 && id <= found {
			return false, nil
		}
	}

	_, err = tx.Update(ctx, spanner.Statement{
		SQL: fmt.Sprintf(write, table), Params: map[string]any{"entity": entity, "event_time": eventTime, "id": id},
	})

	return err == nil, err
}

// Once is the guard for events that carry a part of an entity's state, to be added to it. True: the part of that id was not added to
// the entity before, and is now recorded as added, in the transaction of the effect. False: it was; leave the effect out and return
// nil. Tx, ctx and entity are those of [Later]; id is the sender's id of the part, the event's own where it carries one.
//
// What Once records stays until [Store.PurgeParts] removes it.
func Once(ctx context.Context, tx *spanner.ReadWriteTransaction, entity, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckPart(entity, id)
	}

	if err != nil {
		return false, fmt.Errorf("spannerinbox.Once: %w", err)
	}

	attempt, _ := claim.FromContext(ctx) // there is one, since there is an inbox

	first, err := s.once(ctx, tx, entity, id, attempt.RunID())
	if err != nil {
		return false, fmt.Errorf("spannerinbox.Once: %w", explain(err, s.table+partsSuffix))
	}

	return first, nil
}

func (s *Store) once(ctx context.Context, tx *spanner.ReadWriteTransaction, entity, id, event string) (bool, error) {
	table := s.table + partsSuffix

	_, err := guarded(ctx, tx, table, spanner.Key{entity, id}, "event")
	if err == nil {
		return false, nil
	}

	if !errors.Is(err, spanner.ErrRowNotFound) {
		return false, err
	}

	_, err = tx.Update(ctx, spanner.Statement{
		SQL:    fmt.Sprintf("INSERT INTO `%s` (entity, id, event, added_at) VALUES (@entity, @id, @event, CURRENT_TIMESTAMP())", table),
		Params: map[string]any{"entity": entity, "id": id, "event": event},
	})

	return err == nil, err
}

// guarded reads the row of a guard and locks it at once as its write will: two transactions that both read first would end each other.
func guarded(ctx context.Context, tx *spanner.ReadWriteTransaction, table string, key spanner.Key, columns ...string) (*spanner.Row, error) {
	return tx.ReadRowWithOptions(ctx, table, key, columns, &spanner.ReadOptions{LockHint: spannerpb.ReadRequest_LOCK_HINT_EXCLUSIVE})
}
