package claim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Attempt is one claim that was won, while its work runs. The work finds its own in its context.
type Attempt struct {
	c      *Claimer
	p      Proposal
	id     string
	number int
	limit  moment          // arrival + W; zero: none
	base   context.Context //nolint:containedctx // the delivery's values, for what goes on beside the work
	ctx    workContext

	// write is held by whoever writes the record: one renewal, transaction or end at a time. It guards rec, version, completed,
	// lost and open.
	write     turn
	rec       Record
	version   Version
	lost      *LostError
	open      *moment // before the first send of a renewal that may have been applied unseen; nil: there is none
	concluded Status  // what the end of the attempt was to be recorded as; empty: it was not written
	completed bool
	uncounted bool // what was concluded does not count
	commits   bool // a transaction is under way; mu guards it

	guard *Attempt // the claim on the run's previous name, without which this one does not hold; nil: there is none

	mu      sync.Mutex // guards what follows
	end     moment     // when the attempt stops to hold
	renewer *time.Timer
	left    []byte // the result for later deliveries
}

type attemptKey struct{}

// FromContext returns the attempt that the work of this context belongs to.
func FromContext(ctx context.Context) (*Attempt, bool) {
	a, ok := ctx.Value(attemptKey{}).(*Attempt)

	return a, ok
}

// Check reports whether the attempt of ctx still holds its claim, by what this process knows: nil, or why it does not. Call it
// before an effect outside. A context without an attempt has only its own end to report.
func Check(ctx context.Context) error {
	if a, ok := FromContext(ctx); ok {
		if err := a.held(); err != nil {
			return err
		}
	}

	return context.Cause(ctx)
}

// ID returns the attempt's id: unique, and the fencing token for an effect that can keep one.
func (a *Attempt) ID() string { return a.id }

// Number returns which attempt of the run it is, from 1.
func (a *Attempt) Number() int { return a.number }

// RunID returns the id of the run.
func (a *Attempt) RunID() string { return a.p.ID }

// Store returns the store that the claim is in.
func (a *Attempt) Store() Store { return a.c.backend }

// SetResult leaves a result for later deliveries, stored when the work succeeds, or with its transaction when it is called in the
// body of one or before. [ErrTooLarge] if the store keeps less.
func (a *Attempt) SetResult(result []byte) error {
	if most := a.c.caps.MaxResult; len(result) > most {
		return fmt.Errorf("%w: %d bytes, %s keeps %d", ErrTooLarge, len(result), a.c.caps.Store, most)
	}

	a.mu.Lock()
	a.left = append([]byte(nil), result...)
	a.mu.Unlock()

	return nil
}

// result is what SetResult left.
func (a *Attempt) result() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.left
}

// held is nil while the attempt holds its claim. It ends the work's context when it finds that it does not: after a suspend the
// timers are late.
func (a *Attempt) held() error { return a.heldAt(a.c.clock.moment()) }

// heldAt is held for a clock that was read just now.
func (a *Attempt) heldAt(now moment) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.heldLocked(now)
}

func (a *Attempt) heldLocked(now moment) error {
	if cause := a.ctx.ended(); cause != nil { // by its deadline, by shutdown, lost, returned, or found over before
		return cause
	}

	var over error

	switch {
	case a.guard != nil && a.guard.held() != nil:
		over = a.guard.held()
	case !a.limit.isZero() && now.reached(a.limit):
		over = ErrTimeout
	case now.reached(a.end):
		over = ErrLeaseEnded
	default:
		return nil
	}

	a.ctx.cancel(over)

	return over
}

// deadline is when the work's context ends by itself, and the cause of that. Zero: it does not.
func (a *Attempt) deadline() (time.Time, error) {
	if !a.p.Renew && (a.limit.isZero() || a.end.mono.Before(a.limit.mono)) { // only renewals move the end
		return a.end.mono, ErrLeaseEnded
	}

	return a.limit.mono, ErrTimeout
}

// start lets the work's context follow ctx until unfollow: that of the claim on the previous name, if there is one.
func (a *Attempt) start(ctx context.Context) (unfollow func() bool) {
	if a.guard == nil {
		return func() bool { return true }
	}

	return context.AfterFunc(ctx, func() { a.ctx.cancel(context.Cause(ctx)) })
}

// arm starts the renewals: each third of the lease.
func (a *Attempt) arm() {
	if !a.p.Renew {
		return
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	a.renewer = time.AfterFunc(RenewEvery(a.p.Lease), a.renew)
}

// disarm stops the renewals for good. The work's context has ended: a renewal that is under way does not arm the next.
func (a *Attempt) disarm() {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.renewer != nil {
		a.renewer.Stop()
	}
}

// nextTick is when the work's context is to look at the clocks again: in a second, or at the end.
func (a *Attempt) nextTick() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()

	left := a.c.clock.moment().until(a.end)

	return max(min(left, time.Second), time.Millisecond)
}

// renew is one renewal. It counts from before its first send; one that fails or stays open keeps the old end.
func (a *Attempt) renew() {
	again := a.tryRenew()

	a.mu.Lock()
	defer a.mu.Unlock()

	if a.heldLocked(a.c.clock.moment()) == nil {
		a.renewer.Reset(again)
	}
}

// tryRenew renews the lease unless a transaction or the end is being written, and returns when to do so again.
func (a *Attempt) tryRenew() time.Duration {
	soon := a.p.Lease / 10

	if !a.write.try() {
		return soon
	}
	defer a.write.give()

	if a.held() != nil {
		return soon
	}

	return a.renewOnce(soon)
}

func (a *Attempt) renewOnce(onError time.Duration) time.Duration {
	sent := a.c.clock.moment()

	// What this renewal finds written can be an earlier one whose reply was lost: the lease is as old as the first of them.
	if a.open == nil {
		a.open = &sent
	}

	a.mu.Lock()
	left := sent.until(a.end)
	a.mu.Unlock()

	err := a.settle(a.base, sent, min(a.c.timeout, left), a.p.renewed)
	event := Event{Kind: EventRenewed, Duration: a.c.clock.moment().mono.Sub(sent.mono), Err: err}
	a.c.observe(a.base, a.event(event))

	var lost *LostError

	switch {
	case err == nil:
		first := *a.open
		a.open = nil

		a.mu.Lock()
		a.end = earlier(first.add(a.p.Lease-Margin(a.p.Lease, 0)), a.limit)
		a.mu.Unlock()

		return max(RenewEvery(a.p.Lease)-a.c.clock.moment().mono.Sub(first.mono), time.Millisecond)
	case errors.As(err, &lost):
		a.lose(lost)
	default:
		a.c.log.Warn("lease not renewed, its old end stands", "run", a.p.Run, "attempt_id", a.id, "error", err)
	}

	return onError
}

// lose ends the work because the record is not this attempt's any more. The caller holds write.
func (a *Attempt) lose(lost *LostError) {
	a.lost = lost
	a.ctx.cancel(lost)
}

func (a *Attempt) event(e Event) Event {
	e.ID, e.Run, e.Attempt, e.AttemptID = a.p.ID, a.p.Run, a.number, a.id

	return e
}
