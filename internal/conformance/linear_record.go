package conformance

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// history is what the clients of one run did to its record, in time.
type history struct {
	begin time.Time

	mu         sync.Mutex
	operations []porcupine.Operation
	unknown    int
	seen       bool // the record was there in some answer
}

// add notes a call. One that was sent twice and refused is two writes: the first may have been applied, and what it wrote may have been
// replaced by the time of the second.
func (h *history) add(client int, called time.Time, in operation, out answer, twice bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	returned := time.Since(h.begin).Nanoseconds()
	if twice && !out.unknown && !out.ok && out.found != in.next {
		h.operations = append(h.operations, porcupine.Operation{
			ClientId: client, Input: in, Output: answer{unknown: true}, Call: called.Sub(h.begin).Nanoseconds(), Return: returned,
		})
	}

	if out.unknown {
		returned = math.MaxInt64 // it may be applied at any time from now on
		h.unknown++
	}

	// Nothing deletes the record: an insert after it was seen comes too late, whatever became of it. The checker need not try.
	if out.unknown && in.verb == "insert" && h.seen {
		return
	}

	h.seen = h.seen || out.there
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: called.Sub(h.begin).Nanoseconds(), Return: returned,
	})
}

// recorder is a store that notes each call of one process, which can die: it makes no call any more, and nothing else either.
type recorder struct {
	claim.Store

	history *history
	client  int

	mu   sync.Mutex
	dead bool
	seen map[claim.Version]claim.Snapshot
	mine []claim.Snapshot // in progress, as this process wrote it
	sent map[key]bool     // written twice by one call
}

func newRecorder(store claim.Store, h *history, client int) *recorder {
	return &recorder{Store: store, history: h, client: client, seen: map[claim.Version]claim.Snapshot{}, sent: map[key]bool{}}
}

// resent notes that a call has been sent and is being sent again.
func (r *recorder) resent(c Call) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.sent[key{c.Record.AttemptID, c.Record.Rev}] = true
}

func (r *recorder) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.dead = true
}

// claimed returns one of the versions at which this process had the run in progress.
func (r *recorder) claimed() (claim.Snapshot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if len(r.mine) == 0 {
		return claim.Snapshot{}, false
	}

	return r.mine[rand.IntN(len(r.mine))], true
}

// alive ends the goroutine of a dead process.
func (r *recorder) alive() {
	r.mu.Lock()
	dead := r.dead
	r.mu.Unlock()

	if dead {
		runtime.Goexit()
	}
}

// Insert implements claim.Store.
func (r *recorder) Insert(ctx context.Context, id string, next claim.Record) (claim.Snapshot, bool, error) {
	r.alive()

	called := time.Now()
	snap, ok, err := r.Store.Insert(ctx, id, next)
	r.note(called, operation{
		verb: "insert", next: key{next.AttemptID, next.Rev}, status: next.Status, lease: next.Lease,
	}, snap, ok, err)

	return snap, ok, err
}

// Swap implements claim.Store.
func (r *recorder) Swap(ctx context.Context, id string, old claim.Version, next claim.Record) (claim.Snapshot, bool, error) {
	r.alive()

	r.mu.Lock()
	read := r.seen[old]
	r.mu.Unlock()

	called := time.Now()
	snap, ok, err := r.Store.Swap(ctx, id, old, next)
	r.note(called, operation{
		verb: "swap", old: key{read.AttemptID, read.Rev}, readWritten: read.Written, readNow: read.Now,
		next: key{next.AttemptID, next.Rev}, status: next.Status, lease: next.Lease,
	}, snap, ok, err)

	return snap, ok, err
}

// Get implements claim.Store.
func (r *recorder) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	r.alive()

	called := time.Now()
	snap, err := r.Store.Get(ctx, id)

	switch {
	case err == nil, errors.Is(err, claim.ErrNotFound):
		r.note(called, operation{verb: "get"}, snap, false, nil)
	default: // it told nothing
	}

	return snap, err
}

// List implements claim.Store.
func (r *recorder) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return r.Store.List(ctx, f)
}

func (r *recorder) note(called time.Time, in operation, snap claim.Snapshot, ok bool, err error) {
	out := answer{
		unknown: err != nil, ok: ok, there: snap.Version != "", found: key{snap.AttemptID, snap.Rev}, status: snap.Status,
		written: snap.Written, now: snap.Now,
	}

	r.mu.Lock()
	twice := r.sent[in.next]
	r.mu.Unlock()

	r.history.add(r.client, called, in, out, twice)

	if err != nil || snap.Version == "" {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.seen[snap.Version] = snap // the latest reading: what the client decides by
	if ok && in.status == claim.StatusInProgress {
		r.mine = append(r.mine, snap)
	}
}
