package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// transactTries is how often a transaction that conflicted, or whose commit did not come through, is run.
const transactTries = 3

// Transition is the one change of a record that completes an attempt: New over the version Old, or nothing.
type Transition struct {
	ID  string
	Old Version
	New Record

	attempt *Attempt
}

// Completed is New with the result that [Attempt.SetResult] left by now. It is what is written, so that the body of a transaction
// can leave the result of what it did.
func (t Transition) Completed() Record {
	if t.attempt != nil {
		t.New.Result = t.attempt.result()
	}

	return t.New
}

// Transact completes the attempt together with an effect in the same store: the way for the store packages' CompleteTx.
//
// Commit begins a transaction, runs the body, compares and swaps the record as its last statement, and commits. It returns nil when
// it has committed, an error that matches [ErrLost] when the version differed, [RolledBack] when it surely did not commit, and
// anything else when nobody knows: then the record is read back, and commit is run again if it did not happen, which the version
// makes safe. Renewals pause meanwhile. When this attempt is already completed, Transact returns nil and runs nothing. While one is
// under way another is refused with [ErrNested]: within the body of the first it would wait for itself.
func (a *Attempt) Transact(ctx context.Context, commit func(ctx context.Context, t Transition) error) error {
	if !a.beginTx() {
		return ErrNested
	}
	defer a.endTx()

	if err := a.acquire(ctx); err != nil {
		return err
	}
	defer a.write.give()

	for try := 1; ; try++ {
		if a.completed {
			return nil
		}

		if a.lost != nil {
			return a.lost
		}

		if err := Check(ctx); err != nil {
			return err
		}

		if err := a.held(); err != nil { // ctx need not be the work's own
			return err
		}

		next := a.ending(StatusCompleted, a.rec.Counted, nil)(a.rec, a.c.clock.store(a.c.clock.moment()))

		t := Transition{ID: a.p.ID, Old: a.version, New: next, attempt: a}

		err := commit(ctx, t)
		if err == nil {
			a.rec, a.completed = t.Completed(), true

			return nil
		}

		if steerRolledBack.marks(err) && !errors.Is(err, ErrConflict) {
			return err
		}

		if again := a.committed(next, err); again != nil {
			return again
		}

		if !a.completed && (try == transactTries || !pause(ctx, firstPause<<try)) {
			return fmt.Errorf("complete in a transaction, %d times: %w", try, err)
		}
	}
}

// beginTx notes that a transaction begins. False: one is under way already.
func (a *Attempt) beginTx() bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	free := !a.commits
	a.commits = true

	return free
}

func (a *Attempt) endTx() {
	a.mu.Lock()
	a.commits = false
	a.mu.Unlock()
}

// acquire waits until no renewal is under way.
func (a *Attempt) acquire(ctx context.Context) error {
	if err := a.held(); err != nil {
		return err
	}

	if a.write.try() || a.write.take(a.ctx.Done(), ctx.Done()) {
		return nil
	}

	if err := a.held(); err != nil {
		return err
	}

	return context.Cause(ctx)
}

// committed reads back what became of a transaction that returned an error. Nil: it happened, and the attempt is completed, or it
// did not and may be run again on the version that is there.
func (a *Attempt) committed(next Record, cause error) error {
	ctx := withBudget(a.base, time.Now().Add(a.c.timeout))
	defer ctx.cancel()

	snap, err := a.c.readBack(ctx, a.p.ID, cause)
	if err != nil {
		return err
	}

	switch a.judge(snap, next) {
	case verdictReached, verdictCompleted:
		a.completed = true
	case verdictPending:
	case verdictLost:
		lost := &LostError{ID: a.p.ID, AttemptID: a.id, Found: snap}
		a.lose(lost)

		return lost
	}

	a.rec, a.version = snap.Record, snap.Version

	return nil
}
