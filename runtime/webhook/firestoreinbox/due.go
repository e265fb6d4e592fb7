package firestoreinbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// probeID is the id of no event: those are hexadecimal.
const probeID = "clock"

// Due asks for the time and then for the events that are due by it, and writes nothing: every write is a new version. What it returned
// it hides for the time of hold, as long as the document stays as it is, from this Store alone: workers elsewhere may find it, and the
// claim decides whose it is.
func (s *Store) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	if limit <= 0 {
		return nil, nil
	}

	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	now, err := s.Get(ctx, probeID)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		return nil, fmt.Errorf("find due events in firestore: %w", err)
	}

	docs, err := s.collection.
		Where(fieldStatus, "in", []string{string(claim.StatusReleased), string(claim.StatusInProgress)}).
		Where(fieldLeaseExpires, "<=", now.Now).
		OrderBy(fieldLeaseExpires, firestore.Asc).
		Limit(limit + s.shown.count()).Documents(ctx).GetAll()
	if err != nil {
		return nil, fmt.Errorf("find due events in firestore: %w", s.explain(classify(err)))
	}

	var events []webhook.Event

	for _, doc := range docs {
		if len(events) == limit || !s.shown.show(doc, hold) {
			continue
		}

		e, err := event(doc)
		if err != nil {
			return nil, fmt.Errorf("find due events in firestore: %w", err)
		}

		events = append(events, e)
	}

	return events, nil
}

// shown are the documents that Due returned a moment ago.
type shown struct {
	mu   sync.Mutex
	docs map[string]showing
}

// showing is one state of a document, and until when it is hidden.
type showing struct {
	updated time.Time
	until   time.Time
}

// count drops what is hidden no more and returns how many documents are.
func (s *shown) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := time.Now()
	maps.DeleteFunc(s.docs, func(_ string, was showing) bool { return !now.Before(was.until) })

	return len(s.docs)
}

// show reports whether the document is not hidden, and hides it.
func (s *shown) show(doc *firestore.DocumentSnapshot, hold time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := time.Now()
	if was, ok := s.docs[doc.Ref.ID]; ok && now.Before(was.until) && !doc.UpdateTime.After(was.updated) {
		return false
	}

	s.docs[doc.Ref.ID] = showing{updated: doc.UpdateTime, until: now.Add(hold)}

	return true
}

// explain adds the mend to what the server says of a missing index.
func (s *Store) explain(err error) error {
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "index") {
		return err
	}

	return fmt.Errorf("the collection %s lacks its index of due events, or it is still being built; where it is missing, create it with\n%s%w",
		s.collection.ID, s.mend, err)
}
