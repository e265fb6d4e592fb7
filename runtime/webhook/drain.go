package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Drained says what a [Worker.Drain] did.
type Drained struct {
	// Taken is how many events were found due and tried. Those that are in none of the counts below went to another worker.
	Taken int `json:"taken"`
	// Completed were done, Superseded were completed without their effect, Released are to be tried again after a backoff, and Dead
	// were given up.
	Completed  int `json:"completed"`
	Superseded int `json:"superseded"`
	Released   int `json:"released"`
	Dead       int `json:"dead"`
	// More: a bound ended it before nothing was due.
	More bool `json:"more"`
}

// Drain does the works of due events until none is due and all have returned, or a bound is reached: DrainFor, DrainLimit, and of
// ctx's deadline the last Timeout, so that a work that was begun can end. When ctx ends, so do the contexts of the works, and the
// error is its cause. The counts are right beside an error too.
func (w *Worker) Drain(ctx context.Context) (Drained, error) {
	s := w.newSession(ctx, true)
	taking, cancel := w.taking(ctx)
	defer cancel()
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && time.Until(end) <= w.cfg.Timeout {
		return Drained{}, fmt.Errorf("drain the inbox: there is less time than one work may take (%v): set a shorter Timeout, or allow more time", w.cfg.Timeout)
	}
	err := s.drain(ctx, taking)
	s.running.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("drain the inbox: %w", err)
	}
	return s.count, err
}

// taking is ctx as long as events may be taken.
func (w *Worker) taking(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := time.Now().Add(w.cfg.DrainFor), w.cfg.DrainFor > 0
	if end, ok := ctx.Deadline(); ok {
		if end = end.Add(-w.cfg.Timeout); !bounded || end.Before(until) {
			until, bounded = end, true
		}
	}
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until)
}

// drain starts works until nothing is due and nothing runs that could leave something due, or taking ends. A search that was begun before
// is not cut off: what it found could not be told.
func (s *session) drain(ctx, taking context.Context) error {
	for started, limit := 0, s.w.cfg.DrainLimit; s.slot(taking); {
		if s.w.stopping.Load() {
			return claim.ErrShutdown
		}
		n, err := s.round(ctx, limit)
		if err != nil && ctx.Err() == nil {
			return err
		}
		started += n
		if limit > 0 {
			if limit -= n; limit == 0 {
				break
			}
		}
		if n > 0 || ctx.Err() != nil {
			continue
		}
		if s.ended() == started {
			return nil
		}
		s.running.Wait()
	}
	s.mu.Lock()
	s.count.More = true
	s.mu.Unlock()
	return nil
}

// ended is how many works have come to an end.
func (s *session) ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count.Taken
}

// DrainRun is Drain as the work of a scheduled job (scheduled.Config.Work): the worker of a service that only runs while it is called.
func (w *Worker) DrainRun(ctx context.Context, _ run.Run) error {
	drained, err := w.Drain(ctx)
	w.cfg.Logger.InfoContext(ctx, "inbox drained", "taken", drained.Taken, "completed", drained.Completed, "superseded", drained.Superseded,
		"released", drained.Released, "dead", drained.Dead, "more", drained.More)
	return err
}

// DrainHandler returns a handler that drains the inbox when it is called by POST and answers with what it did ([Drained]) as JSON; 500
// when the inbox could not be read. A caller that hangs up does not end it, DrainFor does. Allow says who may call: an error is
// answered 403, without its text.
func (w *Worker) DrainHandler(allow func(*http.Request) error) (http.Handler, error) {
	if allow == nil {
		return nil, errors.New("webhook drain handler: allow is missing: say who may call, by the Check of a caller.Checker for example")
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			rw.Header().Set("Allow", http.MethodPost)
			refuse(rw, http.StatusMethodNotAllowed, "an inbox is drained by POST")
			return
		}
		if err := allow(r); err != nil {
			w.cfg.Logger.WarnContext(r.Context(), "drain refused", "error", err)
			refuse(rw, http.StatusForbidden, "the caller may not drain this inbox")
			return
		}
		drained, err := w.Drain(context.WithoutCancel(r.Context()))
		if err != nil {
			w.cfg.Logger.ErrorContext(r.Context(), "inbox not drained", "error", err)
			refuse(rw, http.StatusInternalServerError, "the inbox could not be drained")
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(drained) // a caller that is gone reads nothing
	}), nil
}
