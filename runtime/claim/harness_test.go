package claim_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

const (
	runID = "dec08a8162c772e6492f1e2c92c30f1dfbffeaf2cfbd65006636bf9a5527f00f"
	lease = 60 * time.Second
)

var errWork = errors.New("upstream said no")

// events collects what an observer is told.
type events struct {
	mu   sync.Mutex
	list []claim.Event
}

func (e *events) Observe(_ context.Context, ev claim.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()

	e.list = append(e.list, ev)
}

func (e *events) count(kind claim.EventKind) int {
	e.mu.Lock()
	defer e.mu.Unlock()

	n := 0

	for _, ev := range e.list {
		if ev.Kind == kind {
			n++
		}
	}

	return n
}

// bubble is one test in fake time: a store and a claimer over it.
type bubble struct {
	*testing.T

	store   *memclaim.Store
	claimer *claim.Claimer
	events  *events
}

// tap remembers the attempt id of the latest insert, also of one that does not get through.
type tap struct {
	claim.Store

	mu sync.Mutex
	id string
}

func (s *tap) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	s.mu.Lock()
	s.id = r.AttemptID
	s.mu.Unlock()

	return s.Store.Insert(ctx, id, r)
}

func (s *tap) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.id
}

func inBubble(t *testing.T, run func(b *bubble)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, store: memclaim.New(), events: &events{}}
		b.claimer = b.another()
		run(b)
	})
}

// another is the claimer of one more process.
func (b *bubble) another(opts ...claim.Option) *claim.Claimer {
	return claim.New(b.store, append([]claim.Option{
		claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithObserver(b.events), claim.WithHolder("test"),
	}, opts...)...)
}

func proposal() claim.Proposal {
	return claim.Proposal{ID: runID, Run: "projects/p/locations/l/jobs/j/runs/t", Lease: lease, Retention: 24 * time.Hour}
}

func (b *bubble) record() claim.Snapshot {
	b.Helper()

	snap, err := b.store.Get(b.Context(), runID)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		b.Fatal(err)
	}

	return snap
}

func (b *bubble) want(res claim.Result, outcome claim.Outcome) {
	b.Helper()

	if res.Outcome != outcome {
		b.Fatalf("outcome %q, want %q; error: %v; record: %+v", res.Outcome, outcome, res.Err, res.Record)
	}
}

func (b *bubble) wantStatus(status claim.Status) claim.Snapshot {
	b.Helper()

	snap := b.record()
	if snap.Status != status {
		b.Fatalf("the record is %q, want %q", snap.Status, status)
	}

	return snap
}

func nothing(context.Context) error { return nil }

func fails(context.Context) error { return errWork }

// heeds works until its context ends, and returns why.
func heeds(ctx context.Context) error {
	<-ctx.Done()

	return context.Cause(ctx)
}

// must is work that must not be called.
func (b *bubble) mustNotRun(context.Context) error {
	b.Error("the work ran")

	return nil
}

// die claims the run as a process that dies at once: its record stays as it is.
func (b *bubble) die(p claim.Proposal) {
	b.Helper()

	dead := memclaim.New()
	claim.New(dead).Do(b.Context(), p, func(ctx context.Context) error {
		snap, err := dead.Get(ctx, p.ID)
		if err != nil {
			b.Fatal(err)
		}

		snap.Attempt, snap.Counted = b.record().Attempt+1, b.record().Counted+1
		b.store.Put(p.ID, snap.Record)

		return nil
	})
}
