package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// DefaultTable is the table or collection of inboxes whose URL names none.
const DefaultTable = "webhook_inbox"

// Inbox is the driver interface: a claim store over rows that hold the event beside the claim. It has no policy.
//
// A row is a claim record, with the column names and types of the claim tables of the same store, so that its package's Swap, Get,
// List and CompleteTx serve here as well (a type that embeds the claim store and has Unwrap() claim.Store is an Inbox once it has the
// four methods below), and beside it: source, webhook_id, payload, content_type, received_at, conflicts. Swap leaves those as they
// are. The columns of the record mean what they mean there, but for these:
//
//   - lease_expires is the due time of a row that is released or in_progress: for an event that was just accepted the store's time,
//     for a released one when it is to be tried again, for a claimed one the end of the lease. It orders the work and hides what is
//     not due. Whether a claim holds is decided by the claim's own rules, which do not read it in these rows.
//   - expire_at is NULL, or absent, until the event is completed: undone and dead (failed, unknown) rows never expire. The worker
//     sees to that in what it writes.
//   - fingerprint is that of the payload.
//
// Insert is never called by this package: rows are made by Accept alone. Methods are safe for concurrent use.
type Inbox interface {
	claim.Store

	// Accept stores the event with [Entry.Record] in one transaction, unless a row of that id is there, in whatever status and
	// however old; then it compares the fingerprint, counts a conflict where it differs and the store can, and changes nothing else.
	// Of concurrent calls for one id exactly one returns a receipt that is no duplicate. It returns after the commit. After an error
	// the event may be stored or not: the sender delivers again. Errors that a retry may mend wrap claim.ErrConflict.
	Accept(ctx context.Context, e Entry) (Receipt, error)

	// Due returns at most limit events that are released or in_progress and whose due time has come by the store's clock, those that
	// have waited longest first. Where the store can, it moves their due time by hold in the same transaction and passes over rows
	// that another call is taking, so that workers do not meet; a claim then sets the due time anew. Neither the version nor the
	// age (Written) of the record may change by it: a store that cannot keep them leaves hold unused.
	Due(ctx context.Context, limit int, hold time.Duration) ([]Event, error)

	// Load returns the event with that id, or claim.ErrNotFound.
	Load(ctx context.Context, id string) (Event, error)

	// MaxPayload is the longest payload that the store takes, in bytes; positive.
	MaxPayload() int
}

// Purger is implemented by inboxes whose store does not delete expired rows by itself. Purge deletes the rows whose expire_at has
// passed, which only completed ones have, and returns how many.
type Purger interface {
	Purge(ctx context.Context) (deleted int64, err error)
}

const (
	conflictTries = 4
	conflictPause = 20 * time.Millisecond
)

// unconflicted asks a store again, a few times, when a call only met another one.
func unconflicted[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		got, err := call()
		if err == nil || try == conflictTries || !errors.Is(err, claim.ErrConflict) || !sleep(ctx, conflictPause<<try, nil) {
			return got, err
		}
	}
}

// InboxOf returns the inbox of type S that holds the event whose work ctx belongs to; for the guards (Later, Once) of the store
// packages. The error wraps claim.ErrNoAttempt when ctx is not that of a work.
func InboxOf[S claim.Store](ctx context.Context) (S, error) {
	var none S
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return none, claim.ErrNoAttempt
	}
	for s := attempt.Store(); ; {
		if found, ok := s.(S); ok {
			return found, nil
		}
		wrapper, ok := s.(interface{ Unwrap() claim.Store })
		if !ok {
			return none, fmt.Errorf("the event is held in an inbox of %s, not in one of this package", attempt.Store().Caps().Store)
		}
		s = wrapper.Unwrap()
	}
}
