package spannerinbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/spanner"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// eventColumns are the columns of an event in the order in which readEvent takes them.
func eventColumns() []string {
	return []string{"id", "run", "source", "webhook_id", "payload", "content_type", "fingerprint", "received_at", "conflicts"}
}

func readEvent(row *spanner.Row) (webhook.Event, error) {
	var (
		e                              webhook.Event
		name, contentType, fingerprint spanner.NullString
		received                       time.Time
		conflicts                      int64
	)

	if err := row.Columns(&e.ID, &name, &e.Source, &e.WebhookID, &e.Payload, &contentType, &fingerprint, &received, &conflicts); err != nil {
		return e, fmt.Errorf("read a row: %w", err)
	}

	e.Name, e.ContentType, e.Fingerprint = name.StringVal, contentType.StringVal, fingerprint.StringVal
	e.ReceivedAt, e.Conflicts = received.UTC(), int(conflicts)

	return e, nil
}

// Load returns the event with that id, by a strong read.
func (s *Store) Load(ctx context.Context, id string) (webhook.Event, error) {
	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	row, err := s.client.Single().ReadRow(ctx, s.table, spanner.Key{id}, eventColumns())
	if errors.Is(err, spanner.ErrRowNotFound) {
		return webhook.Event{}, claim.ErrNotFound
	}

	if err != nil {
		return webhook.Event{}, fmt.Errorf("read event from spanner: %w", classify(err))
	}

	return readEvent(row)
}
