package claim

import (
	"context"
	"sync"
	"time"
)

// budget is a context that ends at a deadline, as that of context.WithTimeout does. What waiting for the end takes, a timer above all,
// is made when somebody waits: most calls come back before anybody does.
type budget struct {
	parent context.Context //nolint:containedctx // it is a context
	end    time.Time

	mu    sync.Mutex
	timed *timedContext // nil: nobody has waited
	over  bool          // cancelled
}

// timedContext is what is waited for.
type timedContext struct {
	context.Context //nolint:containedctx // it is a context

	stop context.CancelFunc
}

// withBudget returns a context that ends at a time, or with its parent. The caller cancels it in the end.
func withBudget(parent context.Context, end time.Time) *budget {
	if sooner, ok := parent.Deadline(); ok && sooner.Before(end) {
		end = sooner
	}

	return &budget{parent: parent, end: end}
}

func (b *budget) cancel() {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.over = true
	if b.timed != nil {
		b.timed.stop()
	}
}

// String keeps what the contexts before it hold out of whatever prints a context.
func (b *budget) String() string { return "claim.budget" }

// Deadline implements context.Context.
func (b *budget) Deadline() (time.Time, bool) { return b.end, true }

// Done implements context.Context.
func (b *budget) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.timed == nil {
		ctx, stop := context.WithDeadline(b.parent, b.end)
		if b.over {
			stop()
		}

		b.timed = &timedContext{Context: ctx, stop: stop}
	}

	return b.timed.Done()
}

// Err implements context.Context.
func (b *budget) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch {
	case b.timed != nil:
		return b.timed.Err()
	case b.parent.Err() != nil:
		return b.parent.Err()
	case b.over:
		return context.Canceled
	case time.Until(b.end) <= 0:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Value implements context.Context. Contexts made of this one find by it what they end with, once Done has been called.
func (b *budget) Value(key any) any {
	b.mu.Lock()
	timed := b.timed
	b.mu.Unlock()

	if timed != nil {
		return timed.Value(key)
	}

	return b.parent.Value(key)
}
