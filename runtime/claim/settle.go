package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errCompleted: a write was refused because this very attempt had completed the run.
var errCompleted = errors.New("attempt has completed the run already")

// settle writes what compose makes of the attempt's record: one swap of the version that the attempt knows (rule 2). Whatever the
// store leaves open is read back (rule 3): mine and in the target state is success, mine and not yet is sent again on the fresh
// version, anything else is lost. It returns nil, a *LostError, errCompleted, or an error that wraps ErrAmbiguous when ctx ended
// first. The caller holds write.
func (a *Attempt) settle(ctx context.Context, compose func(Record, time.Time) Record) error {
	for wait := firstPause; ; wait = min(2*wait, maxPause) {
		next := compose(a.rec, a.c.clock.store())

		snap, ok, err := a.c.swap(ctx, a.p.ID, a.version, next)
		if err == nil && ok {
			a.rec, a.version = next, snap.Version

			return nil
		}

		if err != nil {
			if snap, err = a.c.readBack(ctx, a.p.ID, err); err != nil {
				return err
			}
		}

		switch v := a.judge(snap, next); v {
		case verdictReached:
			a.rec, a.version = snap.Record, snap.Version

			return nil
		case verdictCompleted:
			a.rec, a.version, a.completed = snap.Record, snap.Version, true

			return errCompleted
		case verdictLost:
			return &LostError{ID: a.p.ID, AttemptID: a.id, Found: snap}
		case verdictPending:
			a.rec, a.version = snap.Record, snap.Version
		}

		if !pause(ctx, wait) {
			return fmt.Errorf("%w: %w", ErrAmbiguous, context.Cause(ctx))
		}
	}
}

type verdict int

const (
	verdictLost      verdict = iota // foreign, gone, or ended by an operator
	verdictReached                  // mine, and in the state that the write was to reach
	verdictCompleted                // mine, and completed, when another end was to be written
	verdictPending                  // mine, and the write is not there (yet)
)

// judge says what a snapshot means for a write of next that did not simply succeed.
func (a *Attempt) judge(snap Snapshot, next Record) verdict {
	switch {
	case snap.Version == "" || snap.AttemptID != next.AttemptID:
		return verdictLost
	case snap.Status == next.Status && (snap.Status != StatusInProgress || snap.Rev == next.Rev):
		return verdictReached
	case snap.Status == StatusCompleted:
		return verdictCompleted
	case snap.Status == StatusInProgress:
		return verdictPending
	default:
		return verdictLost
	}
}
