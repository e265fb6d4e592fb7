package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Previous is the name that a run had before its format, scope, forced policy or store changed: for a time the run has two names, and
// is claimed under both, the previous one first. Either one completed makes a delivery a duplicate, either one held makes it wait.
type Previous struct {
	// ID and Run are the previous name, as in Proposal.
	ID, Run string
	// Horizon is Proposal.Horizon of the previous record.
	Horizon time.Duration
	// Claimer claims the previous name: that of the previous store, shut down on its own. Nil: the one that claims the own name.
	Claimer *Claimer
}

// before is the proposal under the previous name.
func (p *Proposal) before() Proposal {
	other := *p
	other.ID, other.Run, other.Horizon, other.Previous = p.Previous.ID, p.Previous.Run, p.Previous.Horizon, nil

	return other
}

// both claims the previous name and, under it, the own one, does the work, and records its end under the own name and then under the
// previous one. A crash between any two of these leaves the previous name to lapse: the delivery that takes it over finds under the
// own name how far things had come.
func (c *Claimer) both(ctx context.Context, began moment, p Proposal, work func(context.Context) error) Result {
	prev := p.Previous.Claimer
	if prev == nil {
		prev = c
	}

	if !prev.enter() {
		return Result{Outcome: OutcomeUnavailable, Err: ErrShutdown}
	}
	defer prev.leave()

	w := &claiming{c: prev, p: p.before(), began: prev.clock.moment(), id: newAttemptID(), before: true}

	outer, res := w.run(ctx)
	if outer == nil {
		return c.afterPrevious(ctx, p, res)
	}

	own := &second{c: c, p: p, began: began, outer: outer, work: work}
	end := outer.run(ctx, w, own.run)

	if !own.called { // too late, or shutting down
		return end
	}

	return own.joined(end)
}

// afterPrevious answers when the previous name cannot be claimed. A final state that is not the best one yields to what the own name
// says: the effect may have been completed there by an attempt that died before it could say so here.
func (c *Claimer) afterPrevious(ctx context.Context, p Proposal, res Result) Result {
	if res.Outcome != OutcomeFailed && res.Outcome != OutcomeUnknown {
		return res
	}

	snap, err := c.get(context.WithoutCancel(ctx), p.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Result{Outcome: OutcomeUnavailable, Record: res.Record, Err: err}
	}

	if d := decide(&snap, &p); d.outcome == OutcomeDuplicate || d.outcome == OutcomeInProgress {
		return Result{Outcome: d.outcome, RetryAfter: d.retryAfter, Record: snap.Record}
	}

	return res
}

// second is the claim under the own name, as the work of the claim under the previous one.
type second struct {
	c     *Claimer
	p     Proposal
	began moment
	outer *Attempt
	work  func(context.Context) error

	called bool
	own    *Attempt // nil: not won
	res    Result
}

func (s *second) run(ctx context.Context) error {
	s.called = true

	if s.outer.c != s.c { // shutting down the own claimer ends the work, and so must end this attempt in the same way
		if !s.c.hold(s.outer) {
			s.res = Result{Outcome: OutcomeUnavailable, Err: ErrShutdown}

			return s.mirror()
		}
		defer s.c.drop(s.outer)
	}

	p := s.p
	p.Previous, p.made, p.spent = nil, s.outer.rec.Attempt, s.outer.rec.Counted // renewals change neither

	w := &claiming{c: s.c, p: p, began: s.began, id: newAttemptID(), guard: s.outer}

	s.own, s.res = w.run(ctx)

	switch {
	case s.own != nil:
		s.res = s.own.run(ctx, w, s.work)
	case s.res.Record.AttemptID == s.outer.id:
		s.res = Result{Outcome: OutcomeUnavailable, Record: s.res.Record, Err: fmt.Errorf("%w: the previous store is the store itself, and "+
			"the previous name of run %s its own", ErrPolicy, s.p.ID)}
	}

	return s.mirror()
}

// mirrored is the end of the claim on the previous name: what the own name came to.
type mirrored struct {
	status    Status
	uncounted bool
	err       error
}

func (m *mirrored) Error() string {
	if m.err == nil {
		return string(m.status)
	}

	return m.err.Error()
}

func (m *mirrored) Unwrap() error { return m.err }

func (m *mirrored) counted(before int) int {
	if m.uncounted {
		return max(before-1, 0)
	}

	return before
}

// lastWord is what is recorded of an error: nothing where nothing was run.
func lastWord(err error) error {
	if err == nil {
		return nil
	}

	if m, ok := errors.AsType[*mirrored](err); ok {
		return m.err
	}

	return err
}

// mirror says how the claim on the previous name is to end. Nil: completed.
func (s *second) mirror() error {
	ran := s.own != nil && s.own.concluded != ""

	switch s.res.Outcome {
	case OutcomeExecuted, OutcomeDuplicate:
		return nil
	case OutcomeLost: // somebody released or took the run by its own name, so it must be free by the other one too
		status := StatusReleased
		if s.p.AtMostOnce {
			status = StatusUnknown
		}

		return &mirrored{status: status, err: s.res.Err}
	case OutcomeFailed, OutcomeUnknown, OutcomeReleased, OutcomeUnrecorded:
		switch {
		case ran && s.own.concluded == StatusCompleted:
			return nil
		case ran:
			return &mirrored{status: s.own.concluded, uncounted: s.own.uncounted, err: s.res.Err}
		case s.res.Outcome == OutcomeFailed: // found, or marked since nobody else could
			return &mirrored{status: StatusFailed, err: s.res.Err}
		default:
			return &mirrored{status: StatusUnknown, err: s.res.Err}
		}
	default: // nothing was run
		return &mirrored{status: StatusReleased, uncounted: true}
	}
}

// joined is the answer for both names. What is done and not recorded under the previous one could be done once more by who knows only
// that: it is not answered as done, so that another delivery comes and records it.
func (s *second) joined(end Result) Result {
	res := s.res
	if res.Outcome != OutcomeExecuted && res.Outcome != OutcomeDuplicate {
		return res
	}

	switch end.Outcome {
	case OutcomeExecuted, OutcomeDuplicate:
		return res
	default:
		res.Outcome, res.RetryAfter, res.Err = end.Outcome, end.RetryAfter, errors.Join(res.Err, end.Err)

		return res
	}
}
