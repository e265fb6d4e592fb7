package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	firstPause  = 500 * time.Millisecond
	lastPause   = 5 * time.Second
	findTimeout = 10 * time.Second
	// beforeSchedule is how long before its schedule time a run can have been called: a forced one that skip_next takes for the
	// scheduled one, up to a day, and clocks that differ.
	beforeSchedule = 25 * time.Hour
	// forcedHorizon is how long ago the first attempt of a forced run can have been at most; its schedule time lies ahead and says
	// nothing.
	forcedHorizon = 7 * 24 * time.Hour
)

// lookUp looks for what an earlier call started, again and again until a look that begins at decisive or later finds nothing: then
// nothing was started, and the name is empty. The error is errUndecided when the attempt's time ends before, or the cause of its
// context.
func (f *forwarder) lookUp(ctx context.Context, r run.Run, decisive, end time.Time) (string, error) {
	since := sinceOf(r, time.Now())
	var last time.Time
	if !end.IsZero() {
		last = end.Add(-f.kept())
	}
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		began := time.Now()
		name, err := f.find(ctx, r, since)
		if name != "" {
			return name, nil
		}
		if err == nil && !began.Before(decisive) {
			return "", nil
		}
		if err != nil {
			f.log().WarnContext(ctx, "look-up failed", "target", f.target.String(), "run", r.Name, "error", err)
		}
		next := nextLook(time.Now(), wait, decisive, last)
		if next.IsZero() {
			return "", errors.Join(fmt.Errorf("%w: look-ups by the run id found nothing by the end of the attempt, before they could "+
				"rule it out", errUndecided), err)
		}
		if err := sleep(ctx, time.Until(next)); err != nil {
			return "", err
		}
	}
}

// nextLook is when to look again: after the pause, exactly when it decides, and once more at the end of the attempt's time. Zero:
// that was the last.
func nextLook(now time.Time, wait time.Duration, decisive, last time.Time) time.Time {
	next := now.Add(wait)
	if now.Before(decisive) && next.After(decisive) {
		next = decisive
	}
	switch {
	case last.IsZero() || !next.After(last):
		return next
	case now.Before(last):
		return last
	default:
		return time.Time{}
	}
}

func (f *forwarder) find(ctx context.Context, r run.Run, since time.Time) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	name, err := f.target.Find(ctx, r, since)
	if name == "" && err == nil && r.PreviousID != "" {
		// An earlier attempt may have given the token of the name that the run had then.
		r.ID = r.PreviousID
		name, err = f.target.Find(ctx, r, since)
	}
	if err != nil {
		return "", fmt.Errorf("look for run %s at %s: %w", r.ID, f.target, err)
	}
	return name, nil
}

// sinceOf is the earliest time at which a call of the run can have been made.
func sinceOf(r run.Run, now time.Time) time.Time {
	if r.ScheduleTime.After(now) {
		return now.Add(-forcedHorizon)
	}
	return r.ScheduleTime.Add(-beforeSchedule)
}

// sleep waits. When the context ends first, the error says whether that leaves the question to the next attempt.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, claim.ErrShutdown) || errors.Is(cause, claim.ErrLost) {
		return fmt.Errorf("before it was known whether the execution was started: %w", cause)
	}
	return fmt.Errorf("%w: %w", errUndecided, cause)
}
