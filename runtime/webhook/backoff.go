package webhook

import (
	"context"
	"time"
)

// Backoff is how long after a failed attempt an event is tried again: Min after the first one, twice as long after each further one,
// Max at most.
type Backoff struct {
	// Min defaults to 5 s, Max to 1 h.
	Min, Max time.Duration
}

// The defaults of Backoff.
const (
	DefaultMinBackoff = 5 * time.Second
	DefaultMaxBackoff = time.Hour
)

// After is the time to wait after so many attempts that count. Zero attempts: none.
func (b Backoff) After(attempts int) time.Duration {
	if attempts <= 0 {
		return 0
	}
	wait := b.Min
	for range attempts - 1 {
		if wait >= b.Max/2 {
			return b.Max
		}
		wait *= 2
	}
	return min(wait, b.Max)
}

// sleep waits, or until wake. It says whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return ctx.Err() == nil
}
