package scheduled

import (
	"context"
	"time"
)

// purger is a store that does not delete expired records by itself.
type purger interface {
	Purge(ctx context.Context) (deleted int64, err error)
}

const (
	purgeEvery   = time.Hour
	purgeTimeout = 30 * time.Second
)

// purge deletes expired records where the store leaves that to others: beside a delivery, since that is when a platform gives a
// process time, at most once an hour, and without the delivery waiting for it.
func (h *Handler) purge(ctx context.Context) {
	store, ok := h.cfg.Store.(purger)
	if !ok {
		return
	}
	h.mu.Lock()
	now := time.Now()
	due := !h.closed && !now.Before(h.purgeAt)
	if due {
		h.purgeAt = now.Add(purgeEvery)
		h.unguarded.Add(1)
	}
	h.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), purgeTimeout)
	go func() {
		select {
		case <-h.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	go func() {
		defer h.unguarded.Done()
		defer cancel()
		switch deleted, err := store.Purge(ctx); {
		case err != nil && h.shutting(): // the next process goes on
		case err != nil:
			h.cfg.Logger.WarnContext(ctx, "expired records not deleted, the next try comes in an hour", "error", err)
		case deleted > 0:
			h.cfg.Logger.InfoContext(ctx, "expired records deleted", "records", deleted)
		}
	}()
}
