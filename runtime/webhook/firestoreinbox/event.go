package firestoreinbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// The fields of a document: of the claim those that an accepted event has or that a search compares, and those of the event.
const (
	fieldStatus       = "status"
	fieldAttemptID    = "attempt_id"
	fieldAttempt      = "attempt"
	fieldCounted      = "counted"
	fieldRev          = "rev"
	fieldLease        = "lease"
	fieldLeaseExpires = "lease_expires"
	fieldRun          = "run"
	fieldFingerprint  = "fingerprint"

	fieldSource      = "source"
	fieldWebhookID   = "webhook_id"
	fieldPayload     = "payload"
	fieldContentType = "content_type"
	fieldReceivedAt  = "received_at"
)

// document is what Accept creates. The server puts its time into the two fields of times.
func document(e webhook.Entry, r claim.Record) map[string]any {
	payload := e.Payload
	if payload == nil { // a body of no bytes is no missing body
		payload = []byte{}
	}

	doc := map[string]any{
		fieldStatus:       string(r.Status),
		fieldAttemptID:    r.AttemptID,
		fieldAttempt:      r.Attempt,
		fieldCounted:      r.Counted,
		fieldRev:          r.Rev,
		fieldLease:        r.Lease.Microseconds(),
		fieldLeaseExpires: firestore.ServerTimestamp,
		fieldRun:          r.Run,
		fieldFingerprint:  r.Fingerprint,
		fieldSource:       e.Source,
		fieldWebhookID:    e.WebhookID,
		fieldPayload:      payload,
		fieldReceivedAt:   firestore.ServerTimestamp,
	}

	if e.ContentType != "" {
		doc[fieldContentType] = e.ContentType
	}

	return doc
}

// event reads a document.
func event(doc *firestore.DocumentSnapshot) (webhook.Event, error) {
	d := decoder{data: doc.Data()}
	e := webhook.Event{
		ID:          doc.Ref.ID,
		Name:        required[string](&d, fieldRun),
		Source:      required[string](&d, fieldSource),
		WebhookID:   required[string](&d, fieldWebhookID),
		Payload:     required[[]byte](&d, fieldPayload),
		Fingerprint: required[string](&d, fieldFingerprint),
		ReceivedAt:  required[time.Time](&d, fieldReceivedAt).UTC(),
	}

	if d.data[fieldContentType] != nil {
		e.ContentType = required[string](&d, fieldContentType)
	}

	if d.err != nil {
		return webhook.Event{}, fmt.Errorf("document %s is not an event, an inbox needs a collection of its own: %w", doc.Ref.Path, d.err)
	}

	return e, nil
}

// decoder takes fields out of a document and collects what does not fit.
type decoder struct {
	data map[string]any
	err  error
}

func required[T any](d *decoder, name string) T {
	value, ok := d.data[name].(T)
	if !ok {
		d.err = errors.Join(d.err, fmt.Errorf("field %s holds a %T, not a %T", name, d.data[name], value))
	}

	return value
}

// Accept creates the document of the event: one call, and a second one to compare what was there.
func (s *Store) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	if err := driver.CheckPayload(e, maxPayload); err != nil {
		return webhook.Receipt{}, fmt.Errorf("write event to firestore: %w", err)
	}

	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	r := e.Record()

	_, err := s.collection.Doc(e.ID).Create(ctx, document(e, r))

	switch {
	case err == nil:
		return webhook.Receipt{}, nil
	case status.Code(err) == codes.AlreadyExists:
		return s.again(ctx, e, r.AttemptID)
	default:
		return webhook.Receipt{}, fmt.Errorf("write event to firestore: %w", classify(err))
	}
}

// again judges the document that was there. It can be this call's own: the client resends by itself when a reply is lost.
func (s *Store) again(ctx context.Context, e webhook.Entry, attemptID string) (webhook.Receipt, error) {
	found, err := s.Get(ctx, e.ID)
	if errors.Is(err, claim.ErrNotFound) { // it expired in this moment
		err = fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}

	if err != nil {
		return webhook.Receipt{}, fmt.Errorf("compare event with the one in firestore: %w", err)
	}

	return webhook.Receipt{Duplicate: found.AttemptID != attemptID, Differs: found.Fingerprint != e.Fingerprint}, nil
}

// Load returns the event with that id.
func (s *Store) Load(ctx context.Context, id string) (webhook.Event, error) {
	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	doc, err := s.collection.Doc(id).Get(ctx)
	if status.Code(err) == codes.NotFound {
		return webhook.Event{}, claim.ErrNotFound
	}

	if err != nil {
		return webhook.Event{}, fmt.Errorf("read event from firestore: %w", classify(err))
	}

	return event(doc)
}

// classify marks errors that a retry may mend.
func classify(err error) error {
	if status.Code(err) == codes.Aborted {
		return fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}

	return err
}
