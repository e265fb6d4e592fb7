// Package expiry deletes the expired records of stores that leave that to others.
package expiry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Every is how often a process purges a store.
const Every = time.Hour

// timeout bounds one purge.
const timeout = 30 * time.Second

// Purger is a store that does not delete expired records by itself.
type Purger interface {
	Purge(ctx context.Context) (deleted int64, err error)
}

// Turn tells whose turn it is to purge, of those that pass by: one of them, at most once an Every. The zero Turn is the first's to
// take.
type Turn struct {
	mu   sync.Mutex
	next time.Time
}

// Take says whether it is the caller's turn.
func (t *Turn) Take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.next) {
		return false
	}
	t.next = now.Add(Every)
	return true
}

// Purge deletes what has expired in a store, for half a minute at most, and logs how many of what there were, or why they are still
// there. A purge that ctx ended is not logged: the next process goes on with it.
func Purge(ctx context.Context, store Purger, log *slog.Logger, what string) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch deleted, err := store.Purge(limited); {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		log.WarnContext(ctx, "expired "+what+" not deleted, the next try comes in an hour", "error", err)
	case deleted > 0:
		log.InfoContext(ctx, "expired "+what+" deleted", what, deleted)
	}
}
