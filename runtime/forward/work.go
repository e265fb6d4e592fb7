package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	// reserve is what is kept of an attempt's time to record its end.
	reserve = 2 * time.Second
	// shortestCall is the least time that a call is given when there is too little to look it up afterwards.
	shortestCall = 5 * time.Second
)

var (
	errUnguarded = errors.New("the run has no schedule time, and so no id that its executions could be told apart by: nothing was started")
	errNoTime    = errors.New("nothing was started, and too little time is left to try again")
	errUndecided = errors.New("it could not be found out whether the execution was started")
)

// forwarder is the work of one job.
type forwarder struct {
	target  Target
	rerun   bool
	timeout time.Duration
	logger  *slog.Logger
}

// do starts the execution of a run unless an earlier call did.
func (f *forwarder) do(ctx context.Context, r run.Run) error {
	if r.ID == "" || r.Attempt == 0 {
		return claim.Permanent(errUnguarded)
	}
	end, _ := ctx.Deadline()
	open := false // whether a call may have started something unseen
	if r.Attempt > 1 {
		// A claim is given to the next attempt only when the one before has ended, and with it its calls.
		name, err := f.lookUp(ctx, r, time.Now().Add(Settle), end)
		if open = f.runAgain(ctx, err); name != "" || err != nil && !open {
			return f.settled(ctx, r, name, err)
		}
	}
	for calls := 0; ; calls++ {
		timeout, lookedUp := f.callTime(end)
		if calls > 0 && !lookedUp && (!open || timeout < min(f.timeout, shortestCall)) {
			return nothingDone(open, errNoTime)
		}
		name, deadline, err := f.start(ctx, r, timeout)
		if err == nil {
			return f.settled(ctx, r, name, nil)
		}
		if errors.Is(err, ErrRefused) {
			return nothingDone(open, err)
		}
		f.log().WarnContext(ctx, "reply lost, looking for what was started", "target", f.target.String(), "run", r.Name, "error", err)
		name, err = f.lookUp(ctx, r, deadline.Add(Settle), end)
		if again := f.runAgain(ctx, err); name != "" || err != nil && !again {
			return f.settled(ctx, r, name, err)
		} else if again {
			open = true
		}
	}
}

// nothingDone marks an error as one before any effect, unless an earlier call may have had one.
func nothingDone(open bool, err error) error {
	if open {
		return err
	}
	return claim.NothingDone(err)
}

// callTime is how long the next call may take, and whether that leaves time to look it up afterwards.
func (f *forwarder) callTime(end time.Time) (time.Duration, bool) {
	if end.IsZero() {
		return f.timeout, true
	}
	left := time.Until(end) - reserve
	if rest := left - Settle - findTimeout; rest >= min(f.timeout, shortestCall) {
		return min(f.timeout, rest), true
	}
	return min(f.timeout, left, shortestCall), false
}

// kept is what a look-up leaves of the attempt's time: for its end, and for a call where one follows whatever was found.
func (f *forwarder) kept() time.Duration {
	if f.rerun {
		return reserve + shortestCall
	}
	return reserve
}

// start is one call. It returns the time by which its caller has given up.
func (f *forwarder) start(ctx context.Context, r run.Run, timeout time.Duration) (string, time.Time, error) {
	deadline := time.Now().Add(timeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := claim.Check(ctx); err != nil {
		return "", deadline, Refused(fmt.Errorf("before the call: %w", err))
	}
	name, err := f.target.Start(ctx, r)
	if err != nil {
		return "", deadline, fmt.Errorf("start %s: %w", f.target, err)
	}
	if name == "" {
		return "", deadline, fmt.Errorf("start %s: the reply names nothing", f.target)
	}
	return name, deadline, nil
}

// runAgain says whether a look-up that could not decide is followed by one more call. One that shutdown or the loss of the claim
// ended is left to the next attempt.
func (f *forwarder) runAgain(ctx context.Context, err error) bool {
	return f.rerun && errors.Is(err, errUndecided) && ctx.Err() == nil
}

// settled ends the work: with the name of what was started as the claim's result, or with a look-up that could not decide.
func (f *forwarder) settled(ctx context.Context, r run.Run, name string, err error) error {
	if err != nil {
		if f.rerun || !errors.Is(err, errUndecided) {
			return err
		}
		return claim.Unknown(err)
	}
	f.log().InfoContext(ctx, "started", "target", f.target.String(), "run", r.Name, "id", r.ID, "started", name)
	if attempt, ok := claim.FromContext(ctx); ok {
		if err := attempt.SetResult([]byte(name)); err != nil { // a store without room for results; the log has the name
			f.log().WarnContext(ctx, "name of what was started not recorded", "run", r.Name, "error", err)
		}
	}
	return nil
}

func (f *forwarder) log() *slog.Logger {
	if f.logger != nil {
		return f.logger
	}
	return slog.Default()
}
