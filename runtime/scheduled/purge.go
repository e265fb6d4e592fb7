package scheduled

import (
	"context"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
)

// purge deletes expired records where the store leaves that to others: beside a delivery, since that is when a platform gives a
// process time, at most once an hour, and without the delivery waiting for it.
func (h *Handler) purge(ctx context.Context) {
	store, ok := h.cfg.Store.(expiry.Purger)
	if !ok || !h.expiry.Take() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-h.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	h.unguarded.Go(func() {
		defer cancel()
		expiry.Purge(ctx, store, h.cfg.Logger, "records")
	})
}
