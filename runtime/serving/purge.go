package serving

import (
	"context"
	"log/slog"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
)

// Purging returns a background work that deletes the expired records of a store now and once an hour, where the store leaves that to
// others; with another store it has nothing to do. A failure is logged, and the next try comes in an hour.
func Purging(store any) func(context.Context) error {
	return func(ctx context.Context) error {
		s, ok := store.(expiry.Purger)
		if !ok {
			return nil
		}
		tick := time.NewTicker(expiry.Every)
		defer tick.Stop()
		for {
			expiry.Purge(ctx, s, slog.Default(), "records")
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}
