package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
)

// dueTimeout bounds one search for due events.
const dueTimeout = 10 * time.Second

// session is one Run or Drain.
type session struct {
	w       *Worker
	slots   chan struct{} // one for each work that may run
	running sync.WaitGroup
	base    context.Context //nolint:containedctx // of the works, beside their own
	follow  bool            // the works end with base

	mu    sync.Mutex
	count Drained
}

// newSession makes a session. Follow: its works end with ctx; otherwise only the worker's shutdown ends them.
func (w *Worker) newSession(ctx context.Context, follow bool) *session {
	return &session{w: w, slots: make(chan struct{}, w.cfg.Concurrency), base: ctx, follow: follow}
}

// slot waits until a work may be started; false if ctx ended first.
func (s *session) slot(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case s.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// round starts the works of due events in the slot that was taken and in all that are free, and returns how many; at most limit, if
// that is not zero.
func (s *session) round(ctx context.Context, limit int) (started int, err error) {
	free := 1
	for grown := true; grown && free != limit; {
		select {
		case s.slots <- struct{}{}:
			free++
		default:
			grown = false
		}
	}
	s.purge(ctx)
	events, err := s.w.take(ctx, free)
	for range free - len(events) {
		<-s.slots
	}
	for _, e := range events {
		s.running.Go(func() {
			defer func() { <-s.slots }()
			end := endedReleased // a work that ends its goroutine is given back, and nothing after it is reached
			defer func() { s.tally(end) }()
			end = s.w.process(s, e)
		})
	}
	return len(events), err
}

// take finds due events that this worker is not at already, at most limit. Where Due cannot hide what was taken before, those are
// looked past.
func (w *Worker) take(ctx context.Context, limit int) ([]Event, error) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	hold := min(w.cfg.Lease, maxHold)
	found, err := w.due(ctx, limit, hold)
	if err != nil {
		return nil, err
	}
	events, held := w.keep(found, limit)
	if len(events) > 0 || len(found) < limit {
		return events, nil
	}
	if found, err = w.due(ctx, limit+held, hold); err != nil {
		return nil, err
	}
	events, _ = w.keep(found, limit)
	return events, nil
}

// due asks the store, and asks again when it only met another write.
func (w *Worker) due(ctx context.Context, limit int, hold time.Duration) ([]Event, error) {
	found, err := unconflicted(ctx, func() ([]Event, error) { return w.cfg.Inbox.Due(ctx, limit, hold) })
	if err != nil {
		return nil, fmt.Errorf("find due events: %w", err)
	}
	return found, nil
}

// keep marks the events that are to be worked on, and returns how many are held in all.
func (w *Worker) keep(found []Event, limit int) (events []Event, held int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for id, until := range w.held {
		if !until.IsZero() && now.After(until) {
			delete(w.held, id)
		}
	}
	for _, e := range found {
		if _, busy := w.held[e.ID]; !busy && len(events) < limit {
			w.held[e.ID] = time.Time{}
			events = append(events, e)
		}
	}
	return events, len(w.held)
}

// let gives an event free to be taken again, after some time.
func (w *Worker) let(id string, after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if after <= 0 {
		delete(w.held, id)
		return
	}
	w.held[id] = time.Now().Add(after)
}

// ending is what became of an event that was taken.
type ending int

const (
	endedElsewhere  ending = iota // another worker has it, or had it, or nobody could
	endedCompleted                // done
	endedSuperseded               // done by leaving it
	endedReleased                 // to be tried again
	endedDead                     // given up
)

// process claims the event and does its work.
func (w *Worker) process(s *session, e Event) ending {
	superseded, after := false, time.Duration(0)
	defer func() { w.let(e.ID, after) }()
	res := w.claimer.Do(s.base, claim.Proposal{
		ID: e.ID, Run: e.Name, Runtime: w.cfg.Timeout, Lease: w.cfg.Lease, Renew: w.cfg.Renew,
		Retention: w.cfg.Retention, MaxAttempts: max(w.cfg.MaxAttempts, 0), Fingerprint: e.Fingerprint,
	}, func(ctx context.Context) error {
		err := w.work(ctx, s, e)
		if superseded = errors.Is(err, ErrSuperseded); !superseded {
			return err
		}
		attempt, _ := claim.FromContext(ctx)
		return attempt.SetResult([]byte(ResultSuperseded))
	})

	log := w.cfg.Logger.With("source", e.Source, "webhook_id", e.WebhookID, "event", e.ID, "attempt", res.Attempt, "attempt_id", res.AttemptID)
	switch res.Outcome {
	case claim.OutcomeExecuted:
		if superseded {
			return endedSuperseded
		}
		return endedCompleted
	case claim.OutcomeFailed, claim.OutcomeUnknown:
		log.Error("event given up: it is dead until it is requeued", "status", string(res.Record.Status), "error", res.Err)
		return endedDead
	case claim.OutcomeReleased:
		log.Warn("event not done, it is tried again later", "error", res.Err)
		return endedReleased
	case claim.OutcomeDuplicate:
		return endedElsewhere
	case claim.OutcomeInProgress, claim.OutcomeLost:
		after = max(res.RetryAfter, w.cfg.Poll)
		return endedElsewhere
	default:
		after = w.cfg.Poll
		if !w.stopping.Load() {
			log.Warn("event not claimed or not recorded, it is tried again", "outcome", string(res.Outcome), "error", res.Err)
		}
		return endedElsewhere
	}
}

// work calls the source's work with the event.
func (w *Worker) work(ctx context.Context, s *session, e Event) error {
	do, ok := w.cfg.Works[e.Source]
	if !ok {
		do = w.cfg.Work
	}
	if do == nil {
		return fmt.Errorf("there is no work for events of the source %q", e.Source)
	}
	if attempt, ok := claim.FromContext(ctx); ok {
		e.Attempt = attempt.Number()
	}
	ctx = context.WithValue(ctx, eventKey{}, e)
	if !s.follow {
		return do(ctx, e)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.base, func() { cancel(context.Cause(s.base)) })()
	return do(ctx, e)
}

func (s *session) tally(e ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Taken++
	switch e {
	case endedCompleted:
		s.count.Completed++
	case endedSuperseded:
		s.count.Superseded++
	case endedReleased:
		s.count.Released++
	case endedDead:
		s.count.Dead++
	case endedElsewhere:
	}
}

// purge deletes expired rows where the store leaves that to others, at most once an hour, beside the works.
func (s *session) purge(ctx context.Context) {
	if store, ok := s.w.cfg.Inbox.(Purger); ok && s.w.expiry.Take() {
		s.running.Go(func() { expiry.Purge(ctx, store, s.w.cfg.Logger, "events") })
	}
}
