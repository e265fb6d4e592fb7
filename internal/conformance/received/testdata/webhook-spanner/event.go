package main

import (
	"context"
	"encoding/json"
	"time"

	"cloud.google.com/go/spanner"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/spannerinbox"
)

// Events notes each event, and the latest state of each entity.
type Events struct{}

// Configure has events tried again soon.
func (*Events) Configure(cfg *webhook.WorkerConfig) {
	cfg.Timeout, cfg.Lease, cfg.MaxAttempts = 2*time.Second, 3*time.Second, -1
	cfg.Poll, cfg.Backoff = 100*time.Millisecond, webhook.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}
}

func (*Events) Work(ctx context.Context, e webhook.Event) error {
	var payload struct {
		Timestamp time.Time
		Data      struct{ Entity string }
	}
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return err
	}
	return spannerclaim.CompleteTx(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		later, err := spannerinbox.Later(ctx, tx, payload.Data.Entity, payload.Timestamp, e.WebhookID)
		if err != nil {
			return err
		}
		writes := []*spanner.Mutation{spanner.Insert("effects", []string{"event"}, []any{e.WebhookID})}
		if later {
			writes = append(writes, spanner.InsertOrUpdate("states", []string{"entity", "event"}, []any{payload.Data.Entity, e.WebhookID}))
		}
		return tx.BufferWrite(writes)
	})
}
