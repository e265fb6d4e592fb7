package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// claiming is one delivery on its way to a claim.
type claiming struct {
	c       *Claimer
	p       Proposal
	began   moment
	id      string          // of the attempt, should it win
	snap    Snapshot        // what the latest answer showed
	asked   bool            // Admit was called
	sent    moment          // before the first send of the write that may still be on its way
	base    context.Context //nolint:containedctx // the delivery's values
	pending bool            // a write may have been applied unseen
	old     Version         // what that write was to replace
	guard   *Attempt        // the claim on the previous name
	before  bool            // it is the previous name that is claimed: nobody is told
	next    Record          // what it was to write
	seen    moment          // when the latest answer was received
}

// run claims the run, or says why not. One insert when nothing is there; what is there otherwise is decided upon, and decided anew
// when a swap is lost, three times at most within the store timeout.
func (w *claiming) run(ctx context.Context) (*Attempt, Result) {
	detached := context.WithoutCancel(ctx)
	w.base = detached

	now := w.began
	if w.guard != nil { // the claim on the previous name has taken its time since
		now = w.c.clock.moment()
	}

	limited := withBudget(detached, now.mono.Add(w.c.timeout))
	defer limited.cancel()

	ctx = limited
	d := decide(&w.snap, &w.p)

	for lost := 0; ; now = w.c.clock.moment() {
		won, err := w.attempt(ctx, now, d)
		if err != nil {
			return nil, w.unresolved(err)
		}

		if won && d.action == actMark {
			return nil, Result{Outcome: d.outcome, Record: w.snap.Record, Err: lastError(w.snap.Record)}
		}

		// The store's time in the first answer that shows a record classifies the delivery, before anything else.
		if w.snap.Version != "" && !w.admit() {
			if won {
				return nil, w.withdraw(detached, OutcomeNotAdmitted, nil)
			}

			return nil, Result{Outcome: OutcomeNotAdmitted, Record: w.snap.Record}
		}

		if won {
			return w.won(ctx, d), Result{}
		}

		if !w.pending {
			lost++
		}

		if d = decide(&w.snap, &w.p); d.action == actAnswer {
			return nil, Result{Outcome: d.outcome, RetryAfter: d.retryAfter, Record: w.snap.Record, Err: lastError(w.snap.Record)}
		}

		if lost > maxLostSwaps {
			return nil, Result{Outcome: OutcomeInProgress, RetryAfter: time.Second, Record: w.snap.Record}
		}
	}
}

// attempt writes what was decided and takes in what is there afterwards. An error: not to be learned in time.
func (w *claiming) attempt(ctx context.Context, now moment, d decision) (won bool, err error) {
	if d.action == actMark {
		w.next = w.p.marked(&w.snap, d.status)
	} else {
		w.next = w.p.claimed(&w.snap.Record, d, w.id, w.c.holder, w.c.clock.store(now))
	}

	w.old = w.snap.Version
	if !w.pending {
		w.sent = now
	}

	got, err := w.c.write(ctx, now, w.c.timeout, w.p.ID, w.old, w.next)
	snap, won := got.Snapshot, got.ok
	w.seen = got.received

	if err != nil {
		w.pending, won = true, false

		if snap, err = w.c.readBack(ctx, w.p.ID, err); err != nil {
			return false, err
		}

		w.seen = w.c.clock.moment()
	}

	if won {
		snap.Record = w.next
	}

	w.snap = snap
	won = won || w.mine()
	w.pending = w.pending && !won && snap.Version == w.old

	if w.pending && !pause(ctx, firstPause) {
		return false, fmt.Errorf("%w: %w", ErrAmbiguous, context.Cause(ctx))
	}

	return won, nil
}

// mine reports whether the snapshot is the write that was sent last.
func (w *claiming) mine() bool {
	return w.snap.Version != "" && w.snap.AttemptID == w.next.AttemptID && w.snap.Status == w.next.Status && w.snap.Rev == w.next.Rev
}

func (w *claiming) admit() bool {
	if w.asked || w.p.Admit == nil {
		return true
	}

	w.asked = true

	return w.p.Admit(w.snap.Now)
}

// won makes the attempt.
func (w *claiming) won(ctx context.Context, d decision) *Attempt {
	a := w.holder()
	if w.before || w.c.watch == nil {
		return a
	}

	kind := EventClaimed
	if d.takeover {
		kind = EventTakeover
	}

	w.c.observe(ctx, a.event(Event{Kind: kind, Duration: w.c.clock.moment().mono.Sub(w.began.mono)}))

	return a
}

func (w *claiming) holder() *Attempt {
	a := &Attempt{
		c: w.c, p: w.p, id: w.id, number: w.snap.Attempt, rec: w.snap.Record,
		version: w.snap.Version, base: w.base, guard: w.guard,
	}
	a.ctx.attempt = a

	if life := Runtime(w.p.Deadline, w.p.Runtime); life > 0 {
		a.limit = w.began.add(life - w.began.since(w.p.Arrived))
	}

	a.end = earlier(w.sent.add(w.p.Lease-Margin(w.p.Lease, 0)), a.limit)

	return a
}

// withdraw gives back a claim that nothing was run under. One that cannot be confirmed is unavailable, and seen to in the
// background.
func (w *claiming) withdraw(ctx context.Context, outcome Outcome, cause error) Result {
	a := w.holder()

	err := a.settle(ctx, w.c.clock.moment(), w.c.timeout, w.p.withdrawn)
	if err == nil || errors.Is(err, ErrLost) {
		return Result{Outcome: outcome, Record: a.rec, Err: cause}
	}

	w.next, w.old, w.snap.Version = a.rec, a.version, a.version
	w.later()

	return Result{Outcome: OutcomeUnavailable, Record: a.rec, Err: fmt.Errorf("withdraw the claim: %w", errors.Join(err, cause))}
}

// unresolved answers a claim that is still ambiguous at its deadline.
func (w *claiming) unresolved(err error) Result {
	if w.next.Status == StatusInProgress {
		w.later()
	}

	return Result{Outcome: OutcomeUnavailable, Err: fmt.Errorf("claim run %s: %w", w.p.Run, err)}
}

func lastError(r Record) error {
	if (r.Status != StatusFailed && r.Status != StatusUnknown) || r.LastError == "" {
		return nil
	}

	return errors.New(r.LastError)
}
