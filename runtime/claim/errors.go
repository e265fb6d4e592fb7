package claim

import (
	"errors"
	"fmt"
	"slices"
)

// Errors to match with errors.Is. The first three come from stores, the others are what [Check] returns, what context.Cause says
// of a work's context, or what Result.Err wraps.
var (
	// ErrNotFound: there is no record.
	ErrNotFound = errors.New("no record of this run")
	// ErrConflict: the store gave up a write that contended with another (serialization, deadlock, busy); it may be tried again.
	ErrConflict = errors.New("write conflicted with another")
	// ErrTooLarge: the result is larger than the store keeps.
	ErrTooLarge = errors.New("result too large for the store")

	// ErrLost: the run is not this attempt's any more. The type is *LostError.
	ErrLost = errors.New("claim lost")
	// ErrShutdown: the process is shutting down.
	ErrShutdown = errors.New("shutting down")
	// ErrLeaseEnded: the lease is over, or will be within its margin, and was not renewed.
	ErrLeaseEnded = errors.New("lease ended")
	// ErrTimeout: the attempt has lived as long as it may (the request timeout).
	ErrTimeout = errors.New("request timeout reached")
	// ErrReturned: the work has returned, its context serves no more.
	ErrReturned = errors.New("work has returned")
	// ErrAmbiguous: a write was sent and it could not be learned whether it was applied. The cause is wrapped beside it.
	ErrAmbiguous = errors.New("outcome of a write is unknown")
	// ErrPolicy: the proposal cannot be honoured as it stands.
	ErrPolicy = errors.New("policy cannot be honoured")
	// ErrNested: a transaction that completes the attempt is under way, and this one was begun in its body or beside it.
	ErrNested = errors.New("a transaction that completes this attempt is under way already: do all of the effect in one, since none begins " +
		"within another")
	// ErrNoAttempt: the context is not that of a work.
	ErrNoAttempt = errors.New("context carries no attempt")
)

// LostError says what is there instead of the attempt's own claim. It matches [ErrLost].
type LostError struct {
	// ID is the run id, AttemptID the attempt that lost.
	ID, AttemptID string
	// Found is the record that is there; the zero Version if there is none.
	Found Snapshot
}

func (e *LostError) Error() string {
	if e.Found.Version == "" {
		return fmt.Sprintf("claim lost: attempt %s of run %s: the record is gone", e.AttemptID, e.ID)
	}

	return fmt.Sprintf("claim lost: attempt %s of run %s: the record is %s by attempt %s", e.AttemptID, e.ID, e.Found.Status,
		e.Found.AttemptID)
}

// Is matches ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// PanicError is a panic of the work, recovered.
type PanicError struct {
	// Value is what the work panicked with.
	Value any
	// Stack is the stack of the panic, for the log.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("work panicked: %v", e.Value) }

// Unwrap returns the value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)

	return err
}

type steerKind int

const (
	steerPermanent steerKind = iota
	steerNothingDone
	steerRolledBack
	steerUnknown
)

type steered struct {
	kind steerKind
	err  error
}

func (e *steered) Error() string { return e.err.Error() }
func (e *steered) Unwrap() error { return e.err }

// Permanent marks an error of the work as final: the run is recorded as failed and not tried again. Nil stays nil.
func Permanent(err error) error { return steer(steerPermanent, err) }

// NothingDone marks an error of the work as one before any effect: the run is released for another attempt, also under
// at-most-once. Nil stays nil.
func NothingDone(err error) error { return steer(steerNothingDone, err) }

// Unknown marks an error of the work that leaves open whether the effect happened, when it must not happen twice: the run is recorded
// as unknown and left to an operator, also without at_most_once. Nil stays nil.
func Unknown(err error) error { return steer(steerUnknown, err) }

// IsPermanent reports whether err, or an error that it wraps, was marked by [Permanent].
func IsPermanent(err error) bool { return steerPermanent.marks(err) }

// IsUnknown reports whether err, or an error that it wraps, was marked by [Unknown].
func IsUnknown(err error) bool { return steerUnknown.marks(err) }

// RolledBack marks an error of a transaction that surely did not commit; for the store packages' CompleteTx. Nil stays nil.
func RolledBack(err error) error { return steer(steerRolledBack, err) }

func steer(kind steerKind, err error) error {
	if err == nil {
		return nil
	}

	return &steered{kind: kind, err: err}
}

// marks reports whether err or anything that it wraps carries the mark, whatever other marks are beside it or around it.
func (k steerKind) marks(err error) bool {
	if s, ok := err.(*steered); ok && s.kind == k { //nolint:errorlint // the walk below is the unwrapping
		return true
	}

	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		return k.marks(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), k.marks)
	default:
		return false
	}
}
