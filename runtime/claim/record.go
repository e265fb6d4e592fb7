package claim

import (
	"strconv"
	"time"
)

// Status says how far a run has come. A value that is none of those below was written by somebody else's code and counts as
// [StatusInProgress].
type Status string

// The statuses of a record. Completed, failed and unknown leave only by expiry or by an operator who names the attempt.
const (
	StatusInProgress Status = "in_progress" // an attempt holds the lease, or held it and died
	StatusCompleted  Status = "completed"   // the effect happened
	StatusReleased   Status = "released"    // an attempt gave the run back; the next delivery claims it
	StatusFailed     Status = "failed"      // failed for good, or max_attempts reached
	StatusUnknown    Status = "unknown"     // at most once, and nobody knows whether the effect happened
)

// Done reports whether the status is final: it leaves only by expiry or by an operator.
func (s Status) Done() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusUnknown
}

// Version names one state of one record. It is opaque, and never repeats for an id, also across delete and insert. Empty: there is
// no record.
type Version string

// Record is what a store keeps for a run. Field names in stores are the snake-case forms (attempt_id, lease_expires, ...); status,
// attempt_id, lease_expires and expire_at mean what they mean in Google's published sample, so that both can share a collection.
type Record struct {
	// Status says how far the run has come.
	Status Status
	// AttemptID is the 128 random bits, in hex, of the attempt that wrote the record last.
	AttemptID string
	// Attempt counts the claims of the run from 1. Zero: written by other code.
	Attempt int
	// Counted is how many attempts count towards max_attempts: neither withdrawn ones nor those that a shutdown ended.
	Counted int
	// Rev changes with every write.
	Rev int64
	// Lease is how long the claim holds after the store's time of the write. Zero: not ours, LeaseExpires decides.
	Lease time.Duration
	// LeaseExpires is when the lease ends, by the store's clock as the writer knew it; for readers that know no Lease. The Unix
	// epoch in a released record, ExpireAt in a failed or unknown one.
	LeaseExpires time.Time
	// ExpireAt is when a done record stops to count and may be deleted. Zero: never.
	ExpireAt time.Time
	// ClaimedAt is when the attempt claimed the run, by the store's clock as the attempt knew it.
	ClaimedAt time.Time
	// Holder names the process of the attempt, for people.
	Holder string
	// Run is the readable name of the run.
	Run string
	// LastError is the text of the latest failure, at most [MaxLastError] bytes of UTF-8.
	LastError string
	// Fingerprint tells requests with one Idempotency-Key apart. Empty: not used.
	Fingerprint string
	// Result is what the work left for later deliveries, at most Caps.MaxResult bytes.
	Result []byte
}

// MaxLastError is the greatest length of Record.LastError in bytes.
const MaxLastError = 1024

// Version is the version of a record in stores that have none of their own: attempt id and revision.
func (r Record) Version() Version {
	return Version(r.AttemptID + "/" + strconv.FormatInt(r.Rev, 10))
}

// Snapshot is a record as the store had it. The zero Version says that there was none. Written is when the record was written and
// Now when it was read, both by the store's clock: Now - Written is its age, whatever the clock of the reader says. ID is the run
// id; List sets it, the other verbs need not.
type Snapshot struct {
	Record

	ID           string
	Version      Version
	Written, Now time.Time
}
