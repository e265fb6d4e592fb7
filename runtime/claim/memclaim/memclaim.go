// Package memclaim keeps claims in memory: for tests, which can move its clock and break it, and for nothing else, since it forgets
// everything when the process ends and no other process sees it.
package memclaim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// MaxResult is the greatest length of a result in bytes.
const MaxResult = 1 << 20

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("memory store is closed")

// Verb names a method of the store, for hooks.
type Verb string

// The verbs that hooks are called for. Transact is CompleteTx.
const (
	Insert   Verb = "insert"
	Swap     Verb = "swap"
	Get      Verb = "get"
	Transact Verb = "transact"
)

// Hook is called around a call to the store. An error is what the caller gets: before, the call is not made (a request lost);
// after, it has been made (a reply lost). A hook may also wait: it holds no lock.
type Hook func(ctx context.Context, verb Verb, id string) error

// Option changes a Store.
type Option func(*Store)

// WithClock takes the store's time from now. Default: time.Now.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// Store is a claim.Store in memory. Its methods are safe for concurrent use.
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	records map[string]*entry
	before  Hook
	after   Hook
	closed  bool
}

type entry struct {
	record  claim.Record
	written time.Time
}

var _ claim.Store = (*Store)(nil)

// New returns an empty store.
func New(opts ...Option) *Store {
	s := &Store{now: time.Now, records: make(map[string]*entry)}
	for _, opt := range opts {
		opt(s)
	}

	return s
}

// Open returns an empty store of its own for the URL "memory:".
func Open(_ context.Context, url string, opts ...Option) (*Store, error) {
	if url != "memory:" && url != "memory://" {
		return nil, fmt.Errorf("store URL %q: this binary was built with the memory store, which takes \"memory:\"", scheme(url))
	}

	return New(opts...), nil
}

// scheme is all that an error may show of a URL: the rest can hold a password.
func scheme(url string) string {
	for i, r := range url {
		if r == ':' {
			return url[:i+1]
		}
	}

	return ""
}

// Before sets the hook that is called before each call from now on. Nil: none.
func (s *Store) Before(h Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.before = h
}

// After sets the hook that is called after each call from now on. Nil: none.
func (s *Store) After(h Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.after = h
}

// Delete removes a record, as a TTL policy or an operator would. It reports whether there was one.
func (s *Store) Delete(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	_, ok := s.records[id]
	delete(s.records, id)

	return ok
}

// Put writes a record as other code would: no version is compared.
func (s *Store) Put(id string, r claim.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.put(id, s.records[id], r, s.time())
}

// Insert implements claim.Store.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	return s.write(ctx, Insert, id, "", r)
}

// Swap implements claim.Store.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	if old == "" {
		return claim.Snapshot{}, false, fmt.Errorf("swap %s: no version given", id)
	}

	return s.write(ctx, Swap, id, old, r)
}

func (s *Store) write(ctx context.Context, verb Verb, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	if len(r.Result) > MaxResult {
		return claim.Snapshot{}, false, fmt.Errorf("%s %s: %w: %d bytes", verb, id, claim.ErrTooLarge, len(r.Result))
	}

	if err := s.begin(ctx, verb, id); err != nil {
		return claim.Snapshot{}, false, err
	}

	now := s.time()
	e := s.records[id]
	ok := e.is(old)

	if ok {
		e = s.put(id, e, r, now)
	}

	snap := e.snapshot(id, now)

	if err := s.end(ctx, verb, id); err != nil {
		return claim.Snapshot{}, false, err
	}

	return snap, ok, nil
}

// Get implements claim.Store.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	if err := s.begin(ctx, Get, id); err != nil {
		return claim.Snapshot{}, err
	}

	snap := s.records[id].snapshot(id, s.time())

	if err := s.end(ctx, Get, id); err != nil {
		return claim.Snapshot{}, err
	}

	if snap.Version == "" {
		return snap, fmt.Errorf("get %s: %w", id, claim.ErrNotFound)
	}

	return snap, nil
}

// List implements claim.Store. It sees the store as it is when the iteration begins.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		s.mu.Lock()

		now := s.time()
		found := make([]claim.Snapshot, 0, len(s.records))

		for id, e := range s.records {
			if f.Match(e.record.Status) {
				found = append(found, e.snapshot(id, now))
			}
		}

		s.mu.Unlock()

		for _, snap := range found {
			if err := ctx.Err(); err != nil {
				yield(claim.Snapshot{}, fmt.Errorf("list: %w", err))

				return
			}

			if !yield(snap, nil) {
				return
			}
		}
	}
}

// Caps implements claim.Store.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "memory", ServerClock: true, SurvivesFailover: true, Transactions: true, MaxResult: MaxResult}
}

// Close implements claim.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.closed = true

	return nil
}

// begin calls the hook and takes the lock, which the caller holds when there is no error.
func (s *Store) begin(ctx context.Context, verb Verb, id string) error {
	s.mu.Lock()

	if before := s.before; before != nil {
		s.mu.Unlock()

		if err := before(ctx, verb, id); err != nil {
			return fmt.Errorf("%s %s: %w", verb, id, err)
		}

		s.mu.Lock()
	}

	err := ctx.Err()
	if s.closed {
		err = ErrClosed
	}

	if err != nil {
		s.mu.Unlock()

		return fmt.Errorf("%s %s: %w", verb, id, err)
	}

	return nil
}

// end gives the lock back and calls the hook.
func (s *Store) end(ctx context.Context, verb Verb, id string) error {
	after := s.after
	s.mu.Unlock()

	if after == nil {
		return nil
	}

	if err := after(ctx, verb, id); err != nil {
		return fmt.Errorf("%s %s: %w", verb, id, err)
	}

	return nil
}

// time is the store's, at the precision of the least precise store, so that a test here does not promise more.
func (s *Store) time() time.Time { return time.UnixMicro(s.now().UnixMicro()).UTC() }

// put writes a record into its entry; nil: it has none yet.
func (s *Store) put(id string, e *entry, r claim.Record, now time.Time) *entry {
	if e == nil {
		e = new(entry)
		s.records[id] = e
	}

	r.Result = slices.Clone(r.Result)
	*e = entry{record: r, written: now}

	return e
}

// is reports whether that version is there; the zero one stands for nothing.
func (e *entry) is(version claim.Version) bool {
	if e == nil {
		return version == ""
	}

	attemptID, rev, ok := driver.SplitVersion(version)

	return ok && attemptID == e.record.AttemptID && rev == e.record.Rev
}

func (e *entry) snapshot(id string, now time.Time) claim.Snapshot {
	if e == nil {
		return claim.Snapshot{ID: id, Now: now}
	}

	r := e.record
	r.Result = slices.Clone(r.Result)

	return claim.Snapshot{ID: id, Record: r, Version: r.Version(), Written: e.written, Now: now}
}
