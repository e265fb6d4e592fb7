package claim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Do claims the run that p names and, if it wins, calls work, once. It returns when what came of it is recorded, or cannot be.
//
// The work's context is detached from ctx: a caller that hangs up does not end it. It ends, with a cause for context.Cause, when
// the claim is lost ([ErrLost]), before the lease ends ([ErrLeaseEnded]), when the attempt has lived as long as it may
// ([ErrTimeout]), or at [Claimer.Shutdown] ([ErrShutdown]). The claim is released, completed or failed only after the work has
// returned. A panic of the work counts as an error of the type [*PanicError].
func (c *Claimer) Do(ctx context.Context, p Proposal, work func(context.Context) error) (res Result) {
	began := c.clock.moment()

	defer func() {
		if c.watch == nil {
			return
		}

		c.observe(ctx, Event{
			Kind: EventKind(res.Outcome), ID: p.ID, Run: p.Run, Attempt: res.Attempt, AttemptID: res.AttemptID,
			Duration: c.clock.moment().mono.Sub(began.mono), Err: res.Err,
		})
	}()

	if err := p.validate(c.caps); err != nil {
		return Result{Outcome: OutcomeUnavailable, Err: err}
	}

	if ctx.Err() != nil {
		return Result{Outcome: OutcomeUnavailable, Err: fmt.Errorf("before the claim: %w", context.Cause(ctx))}
	}

	if !c.enter() {
		return Result{Outcome: OutcomeUnavailable, Err: ErrShutdown}
	}
	defer c.leave()

	if p.Previous != nil {
		return c.both(ctx, began, p, work)
	}

	w := &claiming{c: c, p: p, began: began, id: newAttemptID()}

	a, res := w.run(ctx)
	if a == nil {
		return res
	}

	return a.run(ctx, w, work)
}

// run does the work of a claim that was won, and records its end.
func (a *Attempt) run(ctx context.Context, w *claiming, work func(context.Context) error) (res Result) {
	unfollow := a.start(ctx)
	defer unfollow()
	defer a.ctx.cancel(ErrReturned)

	if !a.c.hold(a) {
		return w.withdraw(a.base, OutcomeUnavailable, ErrShutdown)
	}
	defer a.c.drop(a)

	now := w.seen
	if a.c.watch != nil { // which may have taken its time
		now = a.c.clock.moment()
	}

	if err := a.heldAt(now); err != nil { // the claim took longer than there was time
		return w.withdraw(a.base, OutcomeUnavailable, err)
	}

	a.arm()

	e := ended{err: errGoexit}

	defer func() { // also when the work ends its goroutine, by which nothing after the call is reached
		now := a.c.clock.moment()
		if !errors.Is(e.err, errGoexit) {
			e.cause = a.heldAt(now)
		}

		res = a.finish(e, now)
	}()

	e = call(&a.ctx, work)

	return res
}

var (
	errGoexit   = errors.New("work ended its goroutine (runtime.Goexit)")
	errUnending = errors.New("work has returned, its transaction has not")
)

func call(ctx context.Context, work func(context.Context) error) (e ended) {
	defer func() {
		if v := recover(); v != nil {
			e = ended{err: &PanicError{Value: v, Stack: debug.Stack()}, panicked: true}
		}
	}()

	return ended{err: work(ctx)}
}

// finish records how the work ended. Whatever it returns, its own completion in a transaction stands.
func (a *Attempt) finish(e ended, now moment) Result {
	a.ctx.cancel(ErrReturned)
	a.disarm()

	limit := finishTries * a.c.timeout

	if !a.write.try() { // a renewal or a transaction is still under way
		waiting := withBudget(a.base, now.mono.Add(limit))
		defer waiting.cancel()

		if !a.write.take(waiting.Done(), nil) {
			return Result{Outcome: OutcomeUnrecorded, Attempt: a.number, AttemptID: a.id, Err: errors.Join(e.err, errUnending)}
		}

		waited := a.c.clock.moment()
		limit -= waited.mono.Sub(now.mono)
		now = waited
	}

	if a.completed {
		return a.executed(e)
	}

	if a.lost != nil {
		return a.afterLoss(e)
	}

	status, counted := conclude(e, &a.rec, &a.p)
	a.concluded, a.uncounted = status, counted < a.rec.Counted
	err := a.settle(a.base, now, limit, a.ending(status, counted, lastWord(e.err)))

	if err == nil && status == StatusCompleted { // before what follows costs anything
		return a.executed(e)
	}

	var lost *LostError

	switch {
	case errors.Is(err, errCompleted):
		return a.executed(e)
	case err == nil:
		return a.outcome(outcomeOf(status), e.err)
	case errors.As(err, &lost):
		return a.foundInstead(lost, e)
	case status == StatusReleased: // the lease will lapse instead
		a.c.log.Warn("claim not released, its lease will lapse", "run", a.p.Run, "attempt_id", a.id, "error", err)

		return a.outcome(OutcomeReleased, errors.Join(e.err, err))
	default:
		a.c.log.Error("work done but not recorded", "run", a.p.Run, "attempt_id", a.id, "status", string(status), "error", err)

		return a.outcome(OutcomeUnrecorded, errors.Join(e.err, err))
	}
}
