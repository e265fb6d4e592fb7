package claim

import (
	"context"
	"sync"
	"time"
)

// workContext is the context that work gets: detached from the connection, ended with a cause by shutdown, loss, the end of the lease
// or W. What waiting for its end takes is made when somebody waits.
type workContext struct {
	base    context.Context //nolint:containedctx // the delivery's values, without its end
	attempt *Attempt
	end     time.Time // zero: it has no deadline
	why     error     // the cause at the end

	mu     sync.Mutex
	live   context.Context //nolint:containedctx // what is waited for; nil: nobody has
	stop   context.CancelCauseFunc
	timer  context.CancelFunc // of the deadline; nil: it has none
	ticker *time.Timer        // looks at the wall clock while somebody waits
	cause  error              // why it was cancelled
}

// cancel ends the context. The first cause counts.
func (w *workContext) cancel(cause error) {
	w.mu.Lock()

	if w.cause == nil {
		w.cause = cause
	}

	live, cause := w.live != nil, w.cause
	w.mu.Unlock()

	if !live {
		return
	}

	w.ticker.Stop()

	if w.timer != nil && cause == w.why && !time.Now().Before(w.end) {
		return // its own timer ends it at this moment, as a deadline that is exceeded
	}

	w.stop(cause)

	if w.timer != nil {
		w.timer() // ended already; the timer goes
	}
}

// ended is why the context has ended; nil: it has not, as far as anybody has looked.
func (w *workContext) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.live != nil {
		return context.Cause(w.live)
	}

	return w.cause
}

// alive makes what can be waited for.
func (w *workContext) alive() context.Context {
	next := w.attempt.nextTick() // before the lock: the attempt's own comes first

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.live != nil {
		return w.live
	}

	w.live, w.stop = context.WithCancelCause(w.base)

	if !w.end.IsZero() {
		w.live, w.timer = context.WithDeadlineCause(w.live, w.end, w.why)
	}

	w.ticker = time.AfterFunc(next, w.tick)
	if w.cause != nil {
		w.ticker.Stop()
		w.stop(w.cause)
	}

	return w.live
}

// tick looks once a second, and at the end, whether the attempt still holds: after a suspend the timers are late.
func (w *workContext) tick() {
	if w.attempt.held() != nil {
		return
	}

	next := w.attempt.nextTick()

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.cause == nil {
		w.ticker.Reset(next)
	}
}

// Deadline implements context.Context.
func (w *workContext) Deadline() (time.Time, bool) { return w.end, !w.end.IsZero() }

// Done implements context.Context.
func (w *workContext) Done() <-chan struct{} { return w.alive().Done() }

// Err implements context.Context.
func (w *workContext) Err() error {
	if w.attempt.held() == nil {
		return nil
	}

	return w.alive().Err()
}

// Value implements context.Context. context.Cause, and contexts made of this one, find by it what they end with, once it has ended or
// Done has been called.
func (w *workContext) Value(key any) any {
	if key == (attemptKey{}) {
		return w.attempt
	}

	w.mu.Lock()
	live := w.live
	w.mu.Unlock()

	if live == nil && w.attempt.held() != nil {
		live = w.alive()
	}

	if live != nil {
		return live.Value(key)
	}

	return w.base.Value(key)
}
