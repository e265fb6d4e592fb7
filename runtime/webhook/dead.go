package webhook

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// ErrNotDead: the event is not in the dead list, so there is nothing to requeue.
var ErrNotDead = errors.New("event is not dead")

// DeadEvent is an event that was given up: its attempts are used up, its work returned an error that was marked claim.Permanent or
// claim.Unknown.
type DeadEvent struct {
	Event

	// Status is failed or unknown.
	Status claim.Status
	// AttemptID names the last attempt, for [Requeue]. Attempts is how many there were.
	AttemptID string
	Attempts  int
	// LastError is why.
	LastError string
	// Since is when it was given up, by the store's clock.
	Since time.Time
}

// Dead yields the dead events, in no order, and ends after the first error. They stay until they are requeued or deleted by hand.
func Dead(ctx context.Context, inbox Inbox) iter.Seq2[DeadEvent, error] {
	return func(yield func(DeadEvent, error) bool) {
		var dead []claim.Snapshot // all, before the first is loaded: until its end a list can hold the only connection to the store
		for found, err := range inbox.List(ctx, claim.Filter{Statuses: []claim.Status{claim.StatusFailed, claim.StatusUnknown}}) {
			if err != nil {
				yield(DeadEvent{}, fmt.Errorf("list dead events: %w", err))
				return
			}
			dead = append(dead, found)
		}
		for _, found := range dead {
			e, err := inbox.Load(ctx, found.ID)
			if errors.Is(err, claim.ErrNotFound) { // deleted since
				continue
			}
			if err != nil {
				yield(DeadEvent{}, fmt.Errorf("list dead events: %w", err))
				return
			}
			if !yield(DeadEvent{
				Event: e, Status: found.Status, AttemptID: found.AttemptID, Attempts: found.Attempt, LastError: found.LastError, Since: found.Written,
			}, nil) {
				return
			}
		}
	}
}

// requeueTries is how often a write whose reply was lost is looked after.
const requeueTries = 3

// Requeue makes a dead event due at once, with as many attempts before it as a new one has. AttemptID is that of the attempt that was
// looked at ([DeadEvent]): after another one the error matches claim.ErrLost and nothing is changed. Requeued already: nil. An
// event that is not dead is ErrNotDead, one that is not there claim.ErrNotFound.
func Requeue(ctx context.Context, inbox Inbox, id, attemptID string) error {
	var failed error
	for range requeueTries {
		found, err := inbox.Get(ctx, id)
		switch {
		case err != nil:
			return fmt.Errorf("requeue event %s: %w", id, errors.Join(failed, err))
		case found.AttemptID != attemptID:
			return fmt.Errorf("requeue event %s: %w: its attempt is %s by now (attempt %d, %s)", id, claim.ErrLost, found.AttemptID, found.Attempt, found.Status)
		case found.Status == claim.StatusReleased && found.Counted == 0:
			return nil
		case found.Status != claim.StatusFailed && found.Status != claim.StatusUnknown:
			return fmt.Errorf("requeue event %s: %w: it is %s", id, ErrNotDead, found.Status)
		}
		r := found.Record
		r.Status, r.Counted = claim.StatusReleased, 0
		r.Rev++
		r.LeaseExpires, r.ExpireAt = time.Unix(0, 0).UTC(), time.Time{}
		_, ok, err := inbox.Swap(ctx, id, found.Version, r)
		if err == nil && ok {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return fmt.Errorf("requeue event %s: the row kept changing, or the store did not answer: %w", id, errors.Join(failed, claim.ErrConflict))
}
