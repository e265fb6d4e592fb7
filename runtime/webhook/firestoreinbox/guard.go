package firestoreinbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// The fields of the guards' documents.
const (
	fieldEntity    = "entity"
	fieldEventTime = "event_time"
	fieldID        = "id"
	fieldEvent     = "event"
	fieldAddedAt   = "added_at"
)

// timeForm keeps an event time to the nanosecond, which Firestore's own times do not, and sorts as text.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// Later is the guard for events that carry the whole state of an entity. It reports whether (event time, id) is later than that of every
// event that was applied to the entity, and remembers it if so, in the transaction that applies it: call it in the body of
// [firestoreclaim.CompleteTx] with the context of the work, and return [webhook.ErrSuperseded] if it is false. Event time is when the
// event happened, by its payload, never webhook-timestamp. Of events of one time the one with the greater id is later. Entities are told
// apart by their names alone, over all sources of the inbox, and remembered for good.
//
// It reads a document and then writes it, and transactions of Firestore read before they write: call it after what the effect reads and
// before what it writes, and one guard a transaction. The work of an event that tells of several entities gives each of them a
// transaction of its own, by RunTransaction of the store's client with the work's context, and returns nil after the last one: the guards
// make it harmless to do so again.
func Later(ctx context.Context, tx *firestore.Transaction, entity string, eventTime time.Time, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckState(entity, eventTime, id)
	}

	if err != nil {
		return false, fmt.Errorf("firestoreinbox.Later: %w", err)
	}

	ref, at := s.entities.Doc(run.ID(entity)), eventTime.UTC().Format(timeForm)

	doc, err := read(tx, ref)
	if err != nil {
		return false, fmt.Errorf("guard the order of entity %s: %w", entity, err)
	}

	if doc.Exists() {
		d := decoder{data: doc.Data()}

		appliedAt, appliedID := required[string](&d, fieldEventTime), required[string](&d, fieldID)
		if d.err != nil {
			return false, fmt.Errorf("guard the order of entity %s: %w", entity, d.err)
		}

		if at < appliedAt || at == appliedAt && id <= appliedID {
			return false, nil
		}
	}

	if err := tx.Set(ref, map[string]any{fieldEntity: entity, fieldEventTime: at, fieldID: id}); err != nil {
		return false, fmt.Errorf("guard the order of entity %s: %w", entity, err)
	}

	return true, nil
}

// Once is the guard for events that carry a part of something (a partial cost). It reports whether the part with that id was not added to
// the entity before, and remembers it if so, in the transaction that adds it. Id is the event's, or one that the payload gives the part,
// when several events may tell of it. It is remembered until [Store.PurgeParts] deletes it. Like [Later] it comes after what the effect
// reads.
func Once(ctx context.Context, tx *firestore.Transaction, entity, id string) (bool, error) {
	s, err := webhook.InboxOf[*Store](ctx)
	if err == nil {
		err = driver.CheckPart(entity, id)
	}

	if err != nil {
		return false, fmt.Errorf("firestoreinbox.Once: %w", err)
	}

	attempt, _ := claim.FromContext(ctx) // there is one, since there is an inbox
	ref := s.parts.Doc(run.ID(run.ID(entity) + "/" + run.ID(id)))

	doc, err := read(tx, ref)
	if err != nil {
		return false, fmt.Errorf("guard a part of entity %s: %w", entity, err)
	}

	if doc.Exists() {
		return false, nil
	}

	if err := tx.Create(ref, map[string]any{
		fieldEntity: entity, fieldID: id, fieldEvent: attempt.RunID(), fieldAddedAt: firestore.ServerTimestamp,
	}); err != nil {
		return false, fmt.Errorf("guard a part of entity %s: %w", entity, err)
	}

	return true, nil
}

// read returns the document of a guard, which need not exist.
func read(tx *firestore.Transaction, ref *firestore.DocumentRef) (*firestore.DocumentSnapshot, error) {
	doc, err := tx.Get(ref)

	switch {
	case err == nil, doc != nil && status.Code(err) == codes.NotFound:
		return doc, nil
	case strings.Contains(err.Error(), "read after write"):
		return nil, fmt.Errorf("ask the guard before the transaction writes, and one guard a transaction: %w", err)
	default:
		return nil, err
	}
}
