package firestoreinbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// purgeBatch is how many parts are looked at together.
const purgeBatch = 200

// PurgeParts deletes what [Once] remembered more than age ago for events whose documents are gone, and returns how many parts that
// were. The events themselves are removed by the TTL policy, which cannot tell what belonged to them. It reads every part of that age,
// and its event's document: call it now and then, with an age of at least the retention of completed events, where parts are many.
func (s *Store) PurgeParts(ctx context.Context, age time.Duration) (deleted int64, err error) {
	now, err := s.Get(ctx, probeID)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		return 0, fmt.Errorf("delete parts in firestore: %w", err)
	}

	query := s.parts.Where(fieldAddedAt, "<", now.Now.Add(-age)).OrderBy(fieldAddedAt, firestore.Asc).Limit(purgeBatch)
	next := query

	for {
		docs, err := next.Documents(ctx).GetAll()
		if err != nil {
			return deleted, fmt.Errorf("delete parts in firestore: %w", classify(err))
		}

		n, err := s.purge(ctx, docs)
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete parts in firestore: %w", classify(err))
		}

		if len(docs) < purgeBatch {
			return deleted, nil
		}

		next = query.StartAfter(docs[len(docs)-1])
	}
}

// purge deletes those parts whose events are gone: an event that is gone stays gone, or comes back as a new one, which the old parts are
// none of.
func (s *Store) purge(ctx context.Context, parts []*firestore.DocumentSnapshot) (deleted int64, err error) {
	gone := map[string]bool{}

	for _, part := range parts {
		d := decoder{data: part.Data()}

		id := required[string](&d, fieldEvent)
		if d.err != nil {
			return deleted, fmt.Errorf("document %s is not a part: %w", part.Ref.Path, d.err)
		}

		if _, known := gone[id]; !known {
			_, err := s.Get(ctx, id)
			if gone[id] = errors.Is(err, claim.ErrNotFound); err != nil && !gone[id] {
				return deleted, err
			}
		}

		if !gone[id] {
			continue
		}

		if _, err := part.Ref.Delete(ctx); err != nil {
			return deleted, err
		}

		deleted++
	}

	return deleted, nil
}
