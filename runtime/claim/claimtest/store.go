package claimtest

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// ErrReplyLost is what a call gets whose reply [Store.LoseReplies] lost.
var ErrReplyLost = errors.New("reply lost")

// Store is a memory store whose clock can be moved and whose replies can be lost. Make one with [NewStore].
type Store struct {
	*memclaim.Store

	ahead  atomic.Int64
	losing atomic.Int32
}

// NewStore returns an empty store.
func NewStore() *Store {
	s := &Store{}
	s.Store = memclaim.New(memclaim.WithClock(func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }))
	s.After(func(_ context.Context, verb memclaim.Verb, _ string) error {
		if verb != memclaim.Get && s.losing.Add(-1) >= 0 {
			return ErrReplyLost
		}

		return nil
	})

	return s
}

// Unwrap returns the memory store, for memclaim.CompleteTx.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Advance moves the store's clock ahead. The time of this process, and so the timers of running work, stay as they are.
func (s *Store) Advance(d time.Duration) { s.ahead.Add(int64(d)) }

// LoseReplies lets the next n writes be applied and their replies be lost, and no others.
func (s *Store) LoseReplies(n int) { s.losing.Store(int32(n)) }

// EndLeases moves the store's clock to the end of the last lease that an attempt holds.
func (s *Store) EndLeases() {
	var left time.Duration

	for snap, err := range s.List(context.Background(), claim.Filter{Statuses: []claim.Status{claim.StatusInProgress}}) {
		if err == nil {
			left = max(left, snap.Lease-snap.Now.Sub(snap.Written))
		}
	}

	s.Advance(left)
}

// Process is the store as one process sees it that can die.
type Process struct {
	store *Store

	mu    sync.Mutex
	armed bool // dies at the first call after a claim was won
	dead  bool
}

var _ claim.Store = (*Process)(nil)

// Process returns the store for one more process.
func (s *Store) Process() *Process { return &Process{store: s} }

// Kill lets the process die: a call to the store does not return from now on, it ends its goroutine.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.dead = true
}

// KillAfterClaim lets the process die at its first call after it has won a claim: the work runs, its end is not recorded.
func (p *Process) KillAfterClaim() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.armed = true
}

// alive ends the goroutine of a process that is dead: whatever it would do next is not done, as when the machine stops.
func (p *Process) alive() {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()

	if dead {
		runtime.Goexit()
	}
}

// wrote notes a write.
func (p *Process) wrote(r claim.Record, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.dead = p.dead || (p.armed && ok && r.Status == claim.StatusInProgress)
}

// Unwrap returns the memory store, for memclaim.CompleteTx.
func (p *Process) Unwrap() claim.Store { return p.store.Store }

// Insert implements claim.Store.
func (p *Process) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	p.alive()

	snap, ok, err := p.store.Insert(ctx, id, r)
	p.wrote(r, ok)

	return snap, ok, err
}

// Swap implements claim.Store.
func (p *Process) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	p.alive()

	snap, ok, err := p.store.Swap(ctx, id, old, r)
	p.wrote(r, ok)

	return snap, ok, err
}

// Get implements claim.Store.
func (p *Process) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	p.alive()

	return p.store.Get(ctx, id)
}

// List implements claim.Store.
func (p *Process) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	p.alive()

	return p.store.List(ctx, f)
}

// Caps implements claim.Store.
func (p *Process) Caps() claim.Caps { return p.store.Caps() }

// Close implements claim.Store. It leaves the store open for other processes.
func (p *Process) Close() error { return nil }
