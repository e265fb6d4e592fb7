package claim

import (
	"errors"
	"time"
)

type action int

const (
	actAnswer action = iota // nothing to write
	actTake                 // write the claim of a new attempt
	actMark                 // write a final status for an attempt that died
)

// decision is what a delivery may do with what it found.
type decision struct {
	action     action
	outcome    Outcome       // the answer; with actMark, the one once written
	status     Status        // actMark
	attempt    int           // actTake
	counted    int           // actTake
	fresh      bool          // actTake: nothing of the old record counts
	takeover   bool          // actTake: the lease of another attempt is over
	retryAfter time.Duration // OutcomeInProgress
}

// decide holds the whole policy of a claim, as a pure function of what the store returned and what the delivery asks for.
func decide(s *Snapshot, p *Proposal) decision {
	left := leaseLeft(s, p)

	switch {
	case s.Version == "", left <= 0 && expired(s):
		// An expired record may be deleted at any time: it must mean the same while it is still there.
		return decision{action: actTake, attempt: 1, counted: 1, fresh: true}
	case p.Fingerprint != "" && s.Fingerprint != "" && p.Fingerprint != s.Fingerprint:
		return decision{outcome: OutcomeMismatch}
	case s.Status == StatusCompleted:
		return decision{outcome: OutcomeDuplicate}
	case s.Status == StatusFailed:
		return decision{outcome: OutcomeFailed}
	case s.Status == StatusUnknown:
		return decision{outcome: OutcomeUnknown}
	case left > 0:
		return decision{outcome: OutcomeInProgress, retryAfter: left}
	case s.Status != StatusReleased && (p.AtMostOnce || p.LapseUnknown):
		return decision{action: actMark, status: StatusUnknown, outcome: OutcomeUnknown}
	}

	attempt, counted := s.Attempt, s.Counted
	if attempt == 0 { // written by other code: the attempt that it stands for counts
		attempt, counted = 1, 1
	}

	if p.MaxAttempts > 0 && counted >= p.MaxAttempts {
		return decision{action: actMark, status: StatusFailed, outcome: OutcomeFailed}
	}

	return decision{action: actTake, attempt: attempt + 1, counted: counted + 1, takeover: s.Status != StatusReleased}
}

// leaseLeft is how long the lease of an attempt in progress still holds, by the store's clock; zero or less: it is over, or there
// is none.
func leaseLeft(s *Snapshot, p *Proposal) time.Duration {
	switch {
	case s.Version == "", s.Status == StatusReleased, s.Status.Done():
		return 0
	case s.Lease > 0:
		return s.Lease - s.Now.Sub(s.Written)
	case !s.LeaseExpires.IsZero():
		return s.LeaseExpires.Sub(s.Now)
	default: // no word of a lease at all: ours is the best guess, and better than a second attempt or none ever
		return p.Lease - s.Now.Sub(s.Written)
	}
}

func expired(s *Snapshot) bool { return !s.ExpireAt.IsZero() && !s.Now.Before(s.ExpireAt) }

// ended is how the work of an attempt came to its end.
type ended struct {
	err      error // what it returned, or a *PanicError
	panicked bool
	cause    error // why its context had ended by then; nil if it had not
}

// conclude says what is recorded of an attempt that came to its end, and how many attempts count from then on.
func conclude(e ended, r *Record, p *Proposal) (Status, int) {
	if e.err == nil {
		return StatusCompleted, r.Counted
	}

	if m, ok := errors.AsType[*mirrored](e.err); ok {
		return m.status, m.counted(r.Counted)
	}

	nothingDone := !e.panicked && steerNothingDone.marks(e.err)

	switch {
	case !e.panicked && steerPermanent.marks(e.err):
		return StatusFailed, r.Counted
	case !e.panicked && steerUnknown.marks(e.err), p.AtMostOnce && !nothingDone:
		return StatusUnknown, r.Counted
	case errors.Is(e.cause, ErrShutdown):
		return StatusReleased, max(r.Counted-1, 0)
	case p.MaxAttempts > 0 && max(r.Counted, p.spent) >= p.MaxAttempts:
		return StatusFailed, r.Counted
	default:
		return StatusReleased, r.Counted
	}
}
