package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// ErrSuperseded is what a work returns, wrapped or not, when the guard of an entity says that a later event was applied already. The
// event is completed then, with the result [ResultSuperseded]; it has not failed. In the body of a CompleteTx the error rolls the
// transaction back, and the worker completes the event after it.
var ErrSuperseded = errors.New("superseded by a later event of the entity")

// ResultSuperseded is the result in the record of an event that was completed as superseded. That of an applied one is empty, unless
// its work left another.
const ResultSuperseded = "superseded"

// Event is one event as its work sees it, and as an inbox keeps it.
type Event struct {
	// ID is the lower-case hex SHA-256 of Name: the key of the row, the same for every delivery, replay and attempt of the event.
	ID string
	// Name is the event's readable name: run.WebhookName of Source and WebhookID.
	Name string
	// Source names the sender and endpoint as the receiver was configured. WebhookID is the sender's id of the event: the value of
	// the header webhook-id.
	Source, WebhookID string
	// Payload is the body of the delivery that was stored, byte for byte.
	Payload []byte
	// ContentType is that delivery's Content-Type header; empty: it had none.
	ContentType string
	// Fingerprint is the lower-case hex SHA-256 of Payload.
	Fingerprint string
	// ReceivedAt is when the event was stored, by the store's clock. It says nothing about the order of events: deliveries overtake
	// each other. The time to order by is in the payload.
	ReceivedAt time.Time
	// Attempt counts the attempts at the event from 1 in a work's Event. What an inbox returns has zero.
	Attempt int
	// Conflicts is how many later deliveries came with the id of this event and another body. Stores in which the count could not
	// be written without disturbing a claim (Firestore) leave it zero.
	Conflicts int
}

// LogValue names the event in logs, without its payload.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(slog.String("source", e.Source), slog.String("webhook_id", e.WebhookID), slog.String("id", e.ID), slog.Int("attempt", e.Attempt))
}

// Entry is a verified delivery that is to be stored. Make it with [NewEntry].
type Entry struct {
	// ID, Name, Source, WebhookID, ContentType, Fingerprint and Payload are those of the [Event] that it becomes.
	ID, Name, Source, WebhookID, ContentType, Fingerprint string
	Payload                                               []byte
}

// maxContentType is more than media types have.
const maxContentType = 255

// NewEntry returns the entry of a delivery: its name, id and fingerprint follow from the rest. A content type that is no text, or none
// of that length, is left out.
func NewEntry(source, webhookID, contentType string, payload []byte) Entry {
	name := run.WebhookName(source, webhookID)
	sum := sha256.Sum256(payload)
	if len(contentType) > maxContentType || !utf8.ValidString(contentType) {
		contentType = ""
	}
	return Entry{
		ID: run.ID(name), Name: name, Source: source, WebhookID: webhookID, ContentType: contentType,
		Fingerprint: hex.EncodeToString(sum[:]), Payload: payload,
	}
}

// Record returns the claim record of the row that Accept writes: released, attempt 0, a new attempt id, so that no version of the row
// repeats one of a row that was deleted, no expire_at. LeaseExpires, the due time, is left to the store, which writes its own time
// there.
func (e Entry) Record() claim.Record {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: it ends the program instead
	return claim.Record{
		Status: claim.StatusReleased, AttemptID: hex.EncodeToString(id[:]), Rev: 1, Run: e.Name, Fingerprint: e.Fingerprint,
	}
}

// Receipt says what Accept did, once that is committed.
type Receipt struct {
	// Duplicate: the event was stored before, and this delivery changed nothing but the count of conflicts.
	Duplicate bool
	// Differs: it was stored with another body (Fingerprint). Only with Duplicate.
	Differs bool
}

type eventKey struct{}

// FromContext returns the event that the work of this context is called for.
func FromContext(ctx context.Context) (Event, bool) {
	e, ok := ctx.Value(eventKey{}).(Event)
	return e, ok
}
