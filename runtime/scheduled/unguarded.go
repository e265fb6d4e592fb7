package scheduled

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// runUnguarded does the work of a delivery without a schedule time: there is no name to claim, so each delivery does it again. Only
// forced runs come without a time.
func (h *Handler) runUnguarded(d *delivery) served {
	s := served{run: &d.run}
	s.run.Forced = true
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		s.Outcome, s.Err = claim.OutcomeUnavailable, claim.ErrShutdown
		return s
	}
	h.unguarded.Add(1)
	h.mu.Unlock()
	defer h.unguarded.Done()

	// As with a claim, a caller that hangs up does not end the work.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(d))
	defer cancel(context.Canceled)
	ctx, stop := context.WithDeadlineCause(ctx, d.arrived.Add(d.terms.Timeout), claim.ErrTimeout)
	defer stop()
	go func() {
		select {
		case <-h.closing:
			cancel(claim.ErrShutdown)
		case <-ctx.Done():
		}
	}()
	s.Err = recovering(run.NewContext(ctx, &d.run), d.work, d.run)
	s.Outcome = claim.OutcomeExecuted
	var panicked *claim.PanicError
	switch {
	case s.Err == nil:
	case errors.As(s.Err, &panicked):
		s.Outcome = claim.OutcomeReleased
	case claim.IsPermanent(s.Err):
		s.Outcome = claim.OutcomeFailed
	case claim.IsUnknown(s.Err):
		s.Outcome = claim.OutcomeUnknown
	default:
		s.Outcome = claim.OutcomeReleased
	}
	return s
}

func recovering(ctx context.Context, work Work, r run.Run) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(err, &claim.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	if err := work(ctx, r); err != nil {
		return fmt.Errorf("unguarded run: %w", err)
	}
	return nil
}
