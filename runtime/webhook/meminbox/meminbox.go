// Package meminbox keeps webhooks in memory: for tests, and for nothing else, since it forgets everything when the process ends and no
// other process sees it.
package meminbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// MaxPayload is the longest payload in bytes.
const MaxPayload = 1 << 20

// Store keeps the claims of events in a memory store, whose hooks and clock tests can use, and the events beside it.
type Store struct {
	*memclaim.Store

	mu     sync.Mutex
	events map[string]webhook.Event
	held   map[string]holding // by Due
}

// holding hides one state of a row.
type holding struct {
	version claim.Version
	until   time.Time
}

var _ webhook.Inbox = (*Store)(nil)

// New returns an empty inbox.
func New(opts ...memclaim.Option) *Store {
	return &Store{Store: memclaim.New(opts...), events: make(map[string]webhook.Event), held: make(map[string]holding)}
}

// Unwrap returns the memory store, for memclaim.CompleteTx.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Accept stores the event unless it is there.
func (s *Store) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	if len(e.Payload) > MaxPayload {
		return webhook.Receipt{}, fmt.Errorf("%w: payload of %d bytes", claim.ErrTooLarge, len(e.Payload))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, ok := s.events[e.ID]; ok {
		receipt := webhook.Receipt{Duplicate: true, Differs: there.Fingerprint != e.Fingerprint}
		if receipt.Differs {
			there.Conflicts++
			s.events[e.ID] = there
		}
		return receipt, nil
	}
	found, err := s.Get(ctx, e.ID)
	if !errors.Is(err, claim.ErrNotFound) {
		return webhook.Receipt{}, fmt.Errorf("store event in memory: %w", cmp.Or(err, claim.ErrConflict))
	}
	r := e.Record()
	r.LeaseExpires = found.Now
	if _, _, err := s.Insert(ctx, e.ID, r); err != nil {
		return webhook.Receipt{}, fmt.Errorf("store event in memory: %w", err)
	}
	s.events[e.ID] = webhook.Event{
		ID: e.ID, Name: e.Name, Source: e.Source, WebhookID: e.WebhookID, Payload: slices.Clone(e.Payload), ContentType: e.ContentType,
		Fingerprint: e.Fingerprint, ReceivedAt: found.Now,
	}
	return webhook.Receipt{}, nil
}

// Due returns events that are due and holds them.
func (s *Store) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []claim.Snapshot
	for found, err := range s.List(ctx, claim.Filter{Statuses: []claim.Status{claim.StatusReleased, claim.StatusInProgress}}) {
		if err != nil {
			return nil, fmt.Errorf("find due events in memory: %w", err)
		}
		_, ok := s.events[found.ID]
		held := s.held[found.ID].version == found.Version && found.Now.Before(s.held[found.ID].until)
		if ok && !held && !found.Now.Before(found.LeaseExpires) {
			due = append(due, found)
		}
	}
	slices.SortFunc(due, func(a, b claim.Snapshot) int { return a.LeaseExpires.Compare(b.LeaseExpires) })
	events := make([]webhook.Event, 0, min(limit, len(due)))
	for _, found := range due[:min(limit, len(due))] {
		s.held[found.ID] = holding{found.Version, found.Now.Add(hold)}
		events = append(events, s.events[found.ID])
	}
	return events, nil
}

// Load returns the event.
func (s *Store) Load(_ context.Context, id string) (webhook.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.events[id]
	if !ok {
		return webhook.Event{}, claim.ErrNotFound
	}
	return e, nil
}

// MaxPayload is the longest payload in bytes.
func (*Store) MaxPayload() int { return MaxPayload }
