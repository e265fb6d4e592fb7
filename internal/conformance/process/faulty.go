package process

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

var errReplyLost = errors.New("reply lost on the way")

// lossy loses some replies of the store: the write is applied, and the caller gets an error.
type lossy struct {
	claim.Store

	likely float64
	tell   func(Event)
}

// Unwrap lets CompleteTx find the store below.
func (s lossy) Unwrap() claim.Store { return s.Store }

func (s lossy) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	found, ok, err := s.Store.Insert(ctx, id, r)
	return s.lose(r, found, ok, err)
}

func (s lossy) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	found, ok, err := s.Store.Swap(ctx, id, old, r)
	return s.lose(r, found, ok, err)
}

func (s lossy) lose(r claim.Record, found claim.Snapshot, ok bool, err error) (claim.Snapshot, bool, error) {
	if err != nil || !ok || rand.Float64() >= s.likely {
		return found, ok, err
	}
	s.tell(Event{Kind: EventLostReply, Run: r.Run, Attempt: r.Attempt, AttemptID: r.AttemptID})
	return claim.Snapshot{}, false, errReplyLost
}

// unfenced is a broken store: it swaps whatever the version, as one would that looks at the id alone.
type unfenced struct{ claim.Store }

// Unwrap lets CompleteTx find the store below.
func (s unfenced) Unwrap() claim.Store { return s.Store }

func (s unfenced) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	for {
		found, ok, err := s.Store.Swap(ctx, id, old, r)
		if err != nil || ok || found.Version == "" || ctx.Err() != nil {
			return found, ok, err
		}
		old = found.Version
	}
}
