package webhooktest

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

// inbox is a memory inbox whose clock can be moved.
type inbox struct {
	*meminbox.Store

	ahead atomic.Int64
}

func newInbox() *inbox {
	s := &inbox{}
	s.Store = meminbox.New(memclaim.WithClock(func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }))
	return s
}

// makeDue moves the clock until every event that is not done is due and nobody's.
func (s *inbox) makeDue() {
	var left time.Duration
	undone := claim.Filter{Statuses: []claim.Status{claim.StatusInProgress, claim.StatusReleased}}
	for found, err := range s.List(context.Background(), undone) {
		if err != nil {
			continue
		}
		left = max(left, found.LeaseExpires.Sub(found.Now))
		if found.Status == claim.StatusInProgress {
			left = max(left, found.Lease-found.Now.Sub(found.Written))
		}
	}
	s.ahead.Add(int64(left))
}

// process is the inbox as one process sees it that can die.
type process struct {
	*inbox

	mu    sync.Mutex
	armed bool // dies at the first call after a claim was won
	dead  bool
}

var _ webhook.Inbox = (*process)(nil)

// alive ends the goroutine of a process that is dead: whatever it would do next is not done, as when the machine stops.
func (p *process) alive() {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
}

// Unwrap leads memclaim.CompleteTx to the memory store.
func (p *process) Unwrap() claim.Store { return p.inbox.Unwrap() }

func (p *process) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	p.alive()
	return p.inbox.Accept(ctx, e)
}

func (p *process) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	p.alive()
	return p.inbox.Due(ctx, limit, hold)
}

func (p *process) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	p.alive()
	return p.inbox.Get(ctx, id)
}

func (p *process) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	p.alive()
	found, ok, err := p.inbox.Swap(ctx, id, old, r)
	p.mu.Lock()
	p.dead = p.dead || p.armed && ok && r.Status == claim.StatusInProgress
	p.mu.Unlock()
	return found, ok, err
}

func (p *process) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	p.alive()
	return p.inbox.List(ctx, f)
}

// Close leaves the inbox open for other processes.
func (*process) Close() error { return nil }
