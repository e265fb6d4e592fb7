package claim

import (
	"errors"
	"time"
)

// ending composes the final record of the attempt.
func (a *Attempt) ending(status Status, counted int, cause error) func(Record, time.Time) Record {
	result := a.result()

	return func(r Record, now time.Time) Record {
		r = a.p.concluded(r, status, counted, cause, now)
		if status == StatusCompleted {
			r.Result = result
		}

		return r
	}
}

// executed: the effect happened and is recorded. An error that came after is told, and changes nothing.
func (a *Attempt) executed(e ended) Result {
	if e.err != nil {
		a.c.log.Error("work failed after it had committed its completion", "run", a.p.Run, "attempt_id", a.id, "error", e.err)
	}

	return a.outcome(OutcomeExecuted, e.err)
}

// afterLoss: a renewal or a transaction found the claim lost while the work ran. What is there by now is the answer.
func (a *Attempt) afterLoss(e ended) Result {
	snap, err := a.c.get(a.base, a.p.ID)

	switch {
	case errors.Is(err, ErrNotFound):
		a.lost.Found = Snapshot{Now: snap.Now}
	case err == nil:
		a.lost.Found = snap
	}

	return a.foundInstead(a.lost, e)
}

// foundInstead answers for an attempt that lost its claim.
func (a *Attempt) foundInstead(lost *LostError, e ended) Result {
	found := lost.Found
	if found.AttemptID == a.id && found.Status == StatusCompleted {
		a.rec, a.version = found.Record, found.Version

		return a.executed(e)
	}

	if e.err == nil {
		a.c.log.Error("work done, but its claim was lost before the end", "run", a.p.Run, "attempt_id", a.id, "error", lost)
	}

	res := a.outcome(OutcomeLost, errors.Join(lost, e.err))
	res.Record = found.Record

	if found.Status == StatusCompleted {
		res.Outcome = OutcomeDuplicate
	} else {
		res.RetryAfter = max(leaseLeft(&found, &a.p), 0)
	}

	return res
}

func (a *Attempt) outcome(outcome Outcome, err error) Result {
	return Result{Outcome: outcome, Attempt: a.number, AttemptID: a.id, Record: a.rec, Err: err}
}

func outcomeOf(s Status) Outcome {
	switch s {
	case StatusCompleted:
		return OutcomeExecuted
	case StatusFailed:
		return OutcomeFailed
	case StatusUnknown:
		return OutcomeUnknown
	default:
		return OutcomeReleased
	}
}
