package claim

import (
	"fmt"
	"time"
)

// Proposal is what a delivery asks for: the run, and the rules that it is claimed under.
type Proposal struct {
	// ID is the run id, the key in the store. Run is its readable name.
	ID, Run string
	// ScheduleTime is when the run was due. Zero: it has none.
	ScheduleTime time.Time
	// Arrived is when the request came, by time.Now. Zero: now.
	Arrived time.Time
	// Deadline is D, the attempt deadline of the caller. Runtime is W, the longest an attempt may live, counted from Arrived; zero
	// stands for Deadline, and with that zero too only the lease ends the work.
	Deadline, Runtime time.Duration
	// Lease is how long a claim holds without news; it must be positive.
	Lease time.Duration
	// Retention is how long the record is kept after the run.
	Retention time.Duration
	// Horizon, when positive, ends the record at completion + Horizon, whatever schedule time and lease: for forced runs, and for
	// keys.
	Horizon time.Duration
	// MaxAttempts is how many attempts may be made before the run is recorded as failed. Zero: no limit.
	MaxAttempts int
	// Renew renews the lease every third of it while the work runs.
	Renew bool
	// AtMostOnce records an attempt whose outcome is open as unknown instead of giving the run to another.
	AtMostOnce bool
	// LapseUnknown records an attempt whose lease lapsed as unknown instead of giving the run to another. Unlike AtMostOnce it
	// leaves errors of the work as they are, and asks nothing of the store.
	LapseUnknown bool
	// Fingerprint tells requests with one Idempotency-Key apart. Empty: not compared.
	Fingerprint string
	// Admit is called with the store's time of the first answer, before anything is decided. False: what was inserted is
	// withdrawn, and the outcome is OutcomeNotAdmitted. Nil: admitted.
	Admit func(now time.Time) bool
	// Previous is the name that the run had before a change. Nil: it always had this one.
	Previous *Previous

	made, spent int // how many attempts there are under the previous name, this one included, and how many of them count
}

func (p *Proposal) validate(caps Caps) error {
	switch {
	case p.ID == "":
		return fmt.Errorf("%w: proposal has no run id", ErrPolicy)
	case p.Lease <= 0:
		return fmt.Errorf("%w: lease is %v, it must be positive", ErrPolicy, p.Lease)
	case p.Retention < 0, p.Horizon < 0, p.Deadline < 0, p.Runtime < 0, p.MaxAttempts < 0:
		return fmt.Errorf("%w: retention, horizon, deadline, runtime and max_attempts must not be negative", ErrPolicy)
	case p.AtMostOnce && !caps.SurvivesFailover:
		return fmt.Errorf("%w: at_most_once needs a store that keeps claims over a failover, %s does not", ErrPolicy, caps.Store)
	case p.Previous != nil && p.Previous.ID == "":
		return fmt.Errorf("%w: previous has no run id", ErrPolicy)
	case p.Previous != nil && p.Previous.Claimer == nil && p.Previous.ID == p.ID:
		return fmt.Errorf("%w: the previous name of run %s is its own", ErrPolicy, p.ID)
	default:
		return nil
	}
}

// Outcome says what a delivery got; it is the value of the Idempotent-Run header.
type Outcome string

// The outcomes of Claimer.Do. OutcomeRejected is the handler's own, for forced runs under the policy reject.
const (
	OutcomeExecuted    Outcome = "executed"     // claimed, and the work succeeded or had committed its completion
	OutcomeDuplicate   Outcome = "duplicate"    // completed before, by this or another delivery
	OutcomeInProgress  Outcome = "in_progress"  // another attempt holds the lease
	OutcomeLost        Outcome = "lost"         // claimed, and lost before the end
	OutcomeReleased    Outcome = "released"     // the work failed, panicked or was shut down; the run may be tried again
	OutcomeFailed      Outcome = "failed"       // failed for good, now or before
	OutcomeUnknown     Outcome = "unknown"      // at most once, and the outcome is open, now or before
	OutcomeUnrecorded  Outcome = "unrecorded"   // the work came to an end that could not be stored
	OutcomeRejected    Outcome = "rejected"     // a forced run under the policy reject
	OutcomeNotAdmitted Outcome = "not_admitted" // Proposal.Admit said no; nothing was run
	OutcomeMismatch    Outcome = "mismatch"     // the record was claimed with another fingerprint; nothing was run
	OutcomeUnavailable Outcome = "unavailable"  // store unreachable, shutting down, or policy refused; nothing was run
)

// Result is what came of a delivery.
type Result struct {
	// Outcome is never empty.
	Outcome Outcome
	// Attempt and AttemptID are those of this delivery's own claim. Zero: it won none.
	Attempt   int
	AttemptID string
	// RetryAfter is when the lease in the way ends, for OutcomeInProgress and OutcomeLost. Zero: not known.
	RetryAfter time.Duration
	// Record is the record as it was last seen.
	Record Record
	// Err is the error of the work or of the store. It can be set beside OutcomeExecuted: the work returned an error after it had
	// committed its completion.
	Err error
}
