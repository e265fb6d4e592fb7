package serving

import (
	"context"
	"log/slog"
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

// Purging returns a background work that deletes the expired records of a store now and once an hour, where the store leaves that to
// others; with another store it has nothing to do. A failure is logged, and the next try comes in an hour.
func Purging(store any) func(context.Context) error {
	return func(ctx context.Context) error {
		s, ok := store.(purger)
		if !ok {
			return nil
		}
		tick := time.NewTicker(purgeEvery)
		defer tick.Stop()
		for {
			purge(ctx, s)
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	}
}

func purge(ctx context.Context, s purger) {
	limited, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	switch deleted, err := s.Purge(limited); {
	case err != nil && ctx.Err() != nil: // the next process goes on
	case err != nil:
		slog.WarnContext(ctx, "expired records not deleted, the next try comes in an hour", "error", err)
	case deleted > 0:
		slog.InfoContext(ctx, "expired records deleted", "records", deleted)
	}
}
