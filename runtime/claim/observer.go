package claim

import (
	"context"
	"time"
)

// Observer is told what happens, for metrics and traces. It must not block. Contexts are those of the delivery. A panic
// of it is logged and changes nothing.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// EventKind names an event.
type EventKind string

// The events. Claimed and takeover come when a claim is won, store_error and renewed at each such call; the others are the end of
// a delivery, and carry the name of its outcome.
const (
	EventClaimed     EventKind = "claimed"  // a first or released run was claimed
	EventTakeover    EventKind = "takeover" // a run was claimed after the lease of another attempt was over
	EventRenewed     EventKind = "renewed"
	EventStoreError  EventKind = "store_error" // a call to the store failed
	EventExecuted    EventKind = "executed"
	EventDuplicate   EventKind = "duplicate"
	EventInProgress  EventKind = "in_progress"
	EventLost        EventKind = "lost"
	EventReleased    EventKind = "released"
	EventFailed      EventKind = "failed"
	EventUnknown     EventKind = "unknown"
	EventUnrecorded  EventKind = "unrecorded"
	EventNotAdmitted EventKind = "not_admitted"
	EventMismatch    EventKind = "mismatch"
	EventUnavailable EventKind = "unavailable"
)

// Event is one thing that happened.
type Event struct {
	Kind EventKind
	// Store is the kind of store, Verb the call that failed: insert, swap, get. Verb is empty but for EventStoreError.
	Store, Verb string
	// ID and Run name the run, Attempt and AttemptID the attempt; zero when there is none.
	ID, Run   string
	Attempt   int
	AttemptID string
	// Duration is how long it took: the claim, the call, or the whole delivery.
	Duration time.Duration
	// Err is the error that came with it, if any.
	Err error
}
