package claim

import (
	"context"
	"sync"
	"time"
)

// workContext is the context that work gets: detached from the connection, ended with a cause by shutdown, loss, the end of the lease
// or W. What waiting for its end takes is made when somebody waits.
type workContext struct {
	attempt *Attempt

	mu    sync.Mutex
	live  *waiting // nil: nobody has waited
	cause error    // why it was cancelled
}

// waiting is what waiting for the end of a work's context takes.
type waiting struct {
	ctx    context.Context //nolint:containedctx // what is waited for
	stop   context.CancelCauseFunc
	end    time.Time          // the deadline; zero: it has none
	why    error              // the cause at the deadline
	timer  context.CancelFunc // of the deadline; nil: it has none
	ticker *time.Timer        // looks at the wall clock
}

// cancel ends the context. The first cause counts.
func (w *workContext) cancel(cause error) {
	w.mu.Lock()

	if w.cause == nil {
		w.cause = cause
	}

	live, cause := w.live, w.cause
	w.mu.Unlock()

	if live == nil {
		return
	}

	live.ticker.Stop()

	if live.timer != nil && cause == live.why && !time.Now().Before(live.end) { //nolint:errorlint // this very value
		return // its own timer ends it at this moment, as a deadline that is exceeded
	}

	live.stop(cause)

	if live.timer != nil {
		live.timer() // ended already; the timer goes
	}
}

// ended is why the context has ended; nil: it has not, as far as anybody has looked.
func (w *workContext) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.live != nil {
		return context.Cause(w.live.ctx)
	}

	return w.cause
}

// alive makes what can be waited for.
func (w *workContext) alive() *waiting {
	next := w.attempt.nextTick() // before the lock: the attempt's own comes first

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.live != nil {
		return w.live
	}

	live := new(waiting)
	live.ctx, live.stop = context.WithCancelCause(w.attempt.base)

	live.end, live.why = w.attempt.deadline()
	if w.cause != nil && w.cause != live.why { //nolint:errorlint // this very value
		live.stop(w.cause) // before the deadline, which may have passed since, can be the cause
	}

	if !live.end.IsZero() {
		live.ctx, live.timer = context.WithDeadlineCause(live.ctx, live.end, live.why)
	}

	live.ticker = time.AfterFunc(next, w.tick)
	if w.cause != nil {
		live.ticker.Stop()
		live.stop(w.cause)
	}

	w.live = live

	return live
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
		w.live.ticker.Reset(next)
	}
}

// String keeps what the attempt holds out of whatever prints a context.
func (w *workContext) String() string { return "claim.workContext" }

// Deadline implements context.Context.
func (w *workContext) Deadline() (time.Time, bool) {
	end, _ := w.attempt.deadline()

	return end, !end.IsZero()
}

// Done implements context.Context.
func (w *workContext) Done() <-chan struct{} { return w.alive().ctx.Done() }

// Err implements context.Context.
func (w *workContext) Err() error {
	if w.attempt.held() == nil {
		return nil
	}

	return w.alive().ctx.Err()
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
		return live.ctx.Value(key)
	}

	return w.attempt.base.Value(key)
}
