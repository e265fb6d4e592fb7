package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// rows is the inbox as a worker's claimer sees it: claims on rows that are there already, with the rules that are the inbox's own.
type rows struct {
	Inbox

	w *Worker
}

// Unwrap leads CompleteTx and the guards to the inbox.
func (r rows) Unwrap() claim.Store { return r.Inbox }

// Offset is the inbox's, if it has compared the clocks.
func (r rows) Offset() (offset time.Duration, known bool) {
	if s, ok := r.Inbox.(claim.OffsetStore); ok {
		return s.Offset()
	}
	return 0, false
}

// Insert makes no row: one that Accept did not make has no event. It reads what is there.
func (r rows) Insert(ctx context.Context, id string, _ claim.Record) (claim.Snapshot, bool, error) {
	found, err := r.Get(ctx, id)
	if errors.Is(err, claim.ErrNotFound) {
		err = nil
	}
	return found, false, err
}

// Get shows a row that was accepted and never claimed as one whose record counts for nothing, so that the first attempt at it is the
// first.
func (r rows) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	found, err := r.Inbox.Get(ctx, id)
	return untouched(found), err
}

// Swap writes the record as inboxes keep it: nothing but completed events expire, and a released one is due after its backoff.
func (r rows) Swap(ctx context.Context, id string, old claim.Version, rec claim.Record) (claim.Snapshot, bool, error) {
	if rec.Status != claim.StatusCompleted {
		rec.ExpireAt = time.Time{}
	}
	switch rec.Status { // the rest is as the claimer wrote it
	case claim.StatusReleased:
		rec.LeaseExpires = r.w.storeTime().Add(r.w.backoff(rec))
	case claim.StatusFailed, claim.StatusUnknown:
		rec.LeaseExpires = time.Time{} // never due by itself
	}
	found, ok, err := r.Inbox.Swap(ctx, id, old, rec)
	if !ok {
		found = untouched(found)
	}
	return found, ok, err
}

func untouched(s claim.Snapshot) claim.Snapshot {
	if s.Version != "" && s.Status == claim.StatusReleased && s.Attempt == 0 {
		s.ExpireAt = time.Unix(0, 0).UTC()
	}
	return s
}
