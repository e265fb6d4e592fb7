package firestoreclaim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
)

// maxResult is the greatest result kept, in bytes; a document holds 1 MiB in all.
const maxResult = 900 << 10

// Store keeps claims in one collection. It is safe for concurrent use.
type Store struct {
	client      *firestore.Client
	collection  *firestore.CollectionRef
	owned       bool
	offset      time.Duration
	offsetKnown bool
}

var (
	_ claim.Store       = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// Insert creates the document: one call for the winner. A loser reads what is there with a second one.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	return s.write(ctx, id, r, func(ctx context.Context, doc *firestore.DocumentRef, r claim.Record) (*firestore.WriteResult, error) {
		return doc.Create(ctx, fields(r))
	})
}

// Swap updates the document if its update time is still the version: one call for the winner. A loser reads what is there with a
// second one.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	since, ok := updateTime(old)
	if !ok { // no document has such a version
		return driver.Lost(ctx, s, id)
	}

	found, won, err := s.write(ctx, id, r, func(ctx context.Context, doc *firestore.DocumentRef, r claim.Record) (*firestore.WriteResult, error) {
		return doc.Update(ctx, updates(r), firestore.LastUpdateTime(since))
	})

	if status.Code(err) == codes.InvalidArgument {
		// To the emulator an update time later than the document's own is a bad argument, not a precondition that fails.
		if there, _, getErr := driver.Lost(ctx, s, id); getErr == nil && there.Version != old {
			return there, false, nil
		}
	}

	return found, won, err
}

type writer func(context.Context, *firestore.DocumentRef, claim.Record) (*firestore.WriteResult, error)

func (s *Store) write(ctx context.Context, id string, r claim.Record, do writer) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	call, cancel := bounded.Call(ctx)
	defer cancel()

	result, err := do(call, s.collection.Doc(id), r)

	switch {
	case err == nil:
		at := result.UpdateTime.UTC()

		return claim.Snapshot{ID: id, Record: r, Version: version(at), Written: at, Now: at}, true, nil
	case refused(err):
		return driver.Lost(ctx, s, id)
	default:
		return claim.Snapshot{}, false, fmt.Errorf("write claim to firestore: %w", classify(err))
	}
}

// Get returns the record of the run and the time of the read.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	doc, err := s.collection.Doc(id).Get(ctx)
	if err != nil && (doc == nil || status.Code(err) != codes.NotFound) {
		return claim.Snapshot{}, fmt.Errorf("read claim from firestore: %w", classify(err))
	}

	found, err := snapshot(doc)
	if err == nil && found.Version == "" {
		err = claim.ErrNotFound
	}

	return found, err
}

// List yields the records in the wanted statuses, by a query that the automatic index on status serves.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		query := s.collection.Query
		if len(f.Statuses) > 0 {
			query = query.Where(fieldStatus, "in", f.Statuses)
		}

		docs := query.Documents(ctx)
		defer docs.Stop()

		for {
			doc, err := docs.Next()
			if errors.Is(err, iterator.Done) {
				return
			}

			if err != nil {
				yield(claim.Snapshot{}, fmt.Errorf("list claims in firestore: %w", classify(err)))

				return
			}

			found, err := snapshot(doc)
			if !yield(found, err) || err != nil {
				return
			}
		}
	}
}

// Caps says what Firestore can promise: everything.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "firestore", ServerClock: true, SurvivesFailover: true, Transactions: true, MaxResult: maxResult}
}

// Offset is the server's clock minus the local one, as Open found it.
func (s *Store) Offset() (offset time.Duration, known bool) { return s.offset, s.offsetKnown }

// Close closes a client that Open made.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}

	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close firestore client: %w", err)
	}

	return nil
}

// refused reports whether the server says that a precondition did not hold. It can say so of the caller's own write: the client
// resends by itself when a reply is lost.
func refused(err error) bool {
	switch status.Code(err) {
	case codes.AlreadyExists, codes.FailedPrecondition, codes.NotFound:
		return true
	default:
		return false
	}
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	if status.Code(err) == codes.Aborted {
		return fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}

	return err
}
