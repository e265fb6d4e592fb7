// Package billing does what the events of a billing system ask for, each exactly once: effect and completion are one transaction of the
// inbox's own database.
package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
)

// Tables are where the effects are.
const Tables = `
CREATE TABLE IF NOT EXISTS subscriptions (id TEXT PRIMARY KEY, plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS usage (subscription TEXT PRIMARY KEY, units INTEGER NOT NULL);`

// payload is what both kinds of events carry.
type payload struct {
	Timestamp time.Time `json:"timestamp"` // when it happened, not when it was delivered
	Data      struct {
		Subscription string `json:"subscription"`
		Plan         string `json:"plan"`
		Units        int    `json:"units"`
	} `json:"data"`
}

// SubscriptionUpdated takes over the state of a subscription, unless a later one was taken over already.
func SubscriptionUpdated(ctx context.Context, e webhook.Event) error {
	p, err := read(e)
	if err != nil {
		return err
	}
	return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
		later, err := postgresinbox.Later(ctx, tx, "subscription/"+p.Data.Subscription, p.Timestamp, e.WebhookID)
		if err != nil {
			return err
		}
		if !later {
			return webhook.ErrSuperseded
		}
		_, err = tx.Exec(ctx, `INSERT INTO subscriptions VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET plan = excluded.plan`,
			p.Data.Subscription, p.Data.Plan)
		return err
	})
}

// UsageRecorded adds a part to the usage of a subscription, each part once, in whatever order they come.
func UsageRecorded(ctx context.Context, e webhook.Event) error {
	p, err := read(e)
	if err != nil {
		return err
	}
	return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
		first, err := postgresinbox.Once(ctx, tx, "usage/"+p.Data.Subscription, e.WebhookID)
		if err != nil || !first {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO usage VALUES ($1, $2) ON CONFLICT (subscription) DO UPDATE SET units = usage.units + excluded.units`,
			p.Data.Subscription, p.Data.Units)
		return err
	})
}

// read reads an event. One that cannot be read will not be readable the next time: it is given up at once, for somebody to look.
func read(e webhook.Event) (payload, error) {
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, claim.Permanent(fmt.Errorf("read the event: %w", err))
	}
	return p, nil
}
