package claim

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Store is the driver interface: compare-and-swap and a clock, no policy. Methods are safe for concurrent use.
//
// An error leaves open whether a write was applied; the caller reads back. A false is judged in the same way, since the snapshot may
// be the caller's own write, resent on the way. Errors that a retry may mend (serialization, deadlock, busy) wrap [ErrConflict].
type Store interface {
	// Insert writes r where no record is. False: what is there instead, as it was at the store's time Now. One round trip where
	// the store can.
	Insert(ctx context.Context, id string, r Record) (Snapshot, bool, error)
	// Swap writes r over the record whose version is old. False: what is there instead; the zero Version if nothing is.
	Swap(ctx context.Context, id string, old Version, r Record) (Snapshot, bool, error)
	// Get returns the record, or ErrNotFound with Snapshot.Now set all the same.
	Get(ctx context.Context, id string) (Snapshot, error)
	// List yields the records that the filter names, in no order, with Snapshot.ID set, and ends after the first error.
	List(ctx context.Context, f Filter) iter.Seq2[Snapshot, error]
	// Caps says what the store can promise.
	Caps() Caps
	// Close frees what the store opened itself.
	Close() error
}

// Filter chooses records to list.
type Filter struct {
	// Statuses to list. Empty: all.
	Statuses []Status
}

// Match reports whether a record with that status is chosen.
func (f Filter) Match(s Status) bool {
	if slices.Contains(f.Statuses, s) {
		return true
	}

	return len(f.Statuses) == 0
}

// Caps says what a store can promise.
type Caps struct {
	// Store names the store: "firestore", "sqlite", ...
	Store string
	// ServerClock: Written and Now come from one clock, whoever asks.
	ServerClock bool
	// SurvivesFailover: an acknowledged write is not lost when the store fails over. At-most-once is refused without it.
	SurvivesFailover bool
	// Transactions: the store's package has CompleteTx.
	Transactions bool
	// MaxResult is the greatest length of Record.Result in bytes. Zero: the store keeps no results.
	MaxResult int
}

// OffsetStore is implemented by stores that compared the clocks when they were opened. [New] takes the offset over, so that the
// first times written for others are right already.
type OffsetStore interface {
	// Offset is the store's clock minus the local one; known is false when it was not learned.
	Offset() (offset time.Duration, known bool)
}
