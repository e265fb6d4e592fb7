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
// first, or within had passed. The caller holds write. Now is the present moment.
func (a *Attempt) settle(ctx context.Context, now moment, within time.Duration, compose func(Record, time.Time) Record) error {
	next := compose(a.rec, a.c.clock.store(now))

	snap, written, err := a.send(ctx, now, within, next)
	if written {
		return nil
	}

	limited := withBudget(ctx, now.mono.Add(within))
	defer limited.cancel()

	for wait := firstPause; ; wait = min(2*wait, maxPause) {
		if err != nil {
			if snap, err = a.c.readBack(limited, a.p.ID, err); err != nil {
				return err
			}
		}

		switch a.judge(snap, next) {
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

		if !pause(limited, wait) {
			return fmt.Errorf("%w: %w", ErrAmbiguous, context.Cause(limited))
		}

		now = a.c.clock.moment()
		next = compose(a.rec, a.c.clock.store(now))

		if snap, written, err = a.send(limited, now, within, next); written {
			return nil
		}
	}
}

// send is one swap of the version that the attempt knows.
func (a *Attempt) send(ctx context.Context, now moment, within time.Duration, next Record) (found Snapshot, written bool, err error) {
	got, err := a.c.write(ctx, now, min(within, a.c.timeout), a.p.ID, a.version, next)
	if err != nil || !got.ok {
		return got.Snapshot, false, err
	}

	a.rec, a.version = next, got.Version

	return got.Snapshot, true, nil
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
