package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/firestoreinbox"
)

// Events notes each event, and the latest state of each entity.
type Events struct{}

// Configure has events tried again soon. Few run at once: the emulator lets transactions that have read the same document wait for each
// other until one gives up, and of many there is always one that has not.
func (*Events) Configure(cfg *webhook.WorkerConfig) {
	cfg.Concurrency = 2
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
	inbox, err := webhook.InboxOf[*firestoreinbox.Store](ctx)
	if err != nil {
		return err
	}
	effects, states := inbox.Client().Collection(os.Getenv("EFFECTS")+"effects"), inbox.Client().Collection(os.Getenv("EFFECTS")+"states")
	return firestoreclaim.CompleteTx(ctx, func(ctx context.Context, tx *firestore.Transaction) error {
		later, err := firestoreinbox.Later(ctx, tx, payload.Data.Entity, payload.Timestamp, e.WebhookID)
		if err == nil {
			err = tx.Create(effects.NewDoc(), map[string]any{"event": e.WebhookID})
		}
		if err != nil || !later {
			return err
		}
		return tx.Set(states.Doc(payload.Data.Entity), map[string]any{"entity": payload.Data.Entity, "event": e.WebhookID})
	})
}
