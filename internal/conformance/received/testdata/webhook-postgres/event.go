package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
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
	prefix := os.Getenv("EFFECTS")
	return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO "+prefix+"effects VALUES ($1)", e.WebhookID); err != nil {
			return err
		}
		later, err := postgresinbox.Later(ctx, tx, payload.Data.Entity, payload.Timestamp, e.WebhookID)
		if err != nil || !later {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO "+prefix+"states VALUES ($1, $2) ON CONFLICT (entity) DO UPDATE SET event = excluded.event",
			payload.Data.Entity, e.WebhookID)
		return err
	})
}
