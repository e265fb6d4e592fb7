package conformance

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// Defect is what a store can get wrong. Each is a mistake that somebody has made in such a store.
type Defect string

// The defects that the checks must find.
const (
	NoStatusFence        Defect = "no fencing by status"        // an attempt that has ended may still write
	AttemptIDAlone       Defect = "attempt id alone"            // any write of the attempt fits, whatever its version
	ClientClocks         Defect = "client clocks"               // each client goes by its own
	TakeoverNotAtomic    Defect = "takeover that is not atomic" // read, then write
	ReleaseAfterComplete Defect = "release after complete"      // a release is not compared with what is there
)

// Broken is a store in memory with one defect.
type Broken struct {
	defect Defect

	mu      sync.Mutex
	records map[string]brokenRecord
}

type brokenRecord struct {
	claim.Record

	written time.Time
}

// NewBroken returns an empty store with that defect. None: the empty defect.
func NewBroken(defect Defect) *Broken {
	return &Broken{defect: defect, records: map[string]brokenRecord{}}
}

// Client returns the store for the nth client.
func (b *Broken) Client(n int) claim.Store {
	client := &brokenClient{Broken: b}
	if b.defect == ClientClocks {
		client.ahead = time.Duration(n%3-1) * 10 * time.Minute
	}

	return client
}

type brokenClient struct {
	*Broken

	ahead time.Duration
}

func (c *brokenClient) now() time.Time { return time.Now().UTC().Add(c.ahead) }

func (c *brokenClient) snapshot(id string) claim.Snapshot {
	r, ok := c.records[id]
	if !ok {
		return claim.Snapshot{ID: id, Now: c.now()}
	}

	return claim.Snapshot{ID: id, Record: r.Record, Version: r.Version(), Written: r.written, Now: c.now()}
}

func (c *brokenClient) write(id string, r claim.Record) { c.records[id] = brokenRecord{r, c.now()} }

// Insert implements claim.Store.
func (c *brokenClient) Insert(_ context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	_, there := c.records[id]
	if !there {
		c.write(id, r)
	}

	return c.snapshot(id), !there, nil
}

// Swap implements claim.Store.
func (c *brokenClient) Swap(_ context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	there, ok := c.records[id]
	if !ok || !c.fits(there.Record, old, r) {
		return c.snapshot(id), false, nil
	}

	if c.defect == TakeoverNotAtomic && there.AttemptID != r.AttemptID {
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
		c.mu.Lock()
	}

	c.write(id, r)

	return c.snapshot(id), true, nil
}

// fits reports whether r may be written over what is there by a client that knows the version old.
func (c *brokenClient) fits(there claim.Record, old claim.Version, r claim.Record) bool {
	own := there.AttemptID == r.AttemptID

	switch {
	case there.Version() == old:
		return true
	case c.defect == NoStatusFence:
		return own && there.Status != claim.StatusInProgress
	case c.defect == AttemptIDAlone:
		return own
	case c.defect == ReleaseAfterComplete:
		return own && r.Status == claim.StatusReleased && there.Status == claim.StatusCompleted
	default:
		return false
	}
}

// Get implements claim.Store.
func (c *brokenClient) Get(_ context.Context, id string) (claim.Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	snap := c.snapshot(id)
	if snap.Version == "" {
		return snap, fmt.Errorf("get %s: %w", id, claim.ErrNotFound)
	}

	return snap, nil
}

// List implements claim.Store.
func (c *brokenClient) List(_ context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		c.mu.Lock()

		var all []claim.Snapshot

		for id, r := range c.records {
			if f.Match(r.Status) {
				all = append(all, c.snapshot(id))
			}
		}

		c.mu.Unlock()

		for _, snap := range all {
			if !yield(snap, nil) {
				return
			}
		}
	}
}

// Caps implements claim.Store.
func (c *brokenClient) Caps() claim.Caps {
	return claim.Caps{Store: "broken", ServerClock: c.defect != ClientClocks, SurvivesFailover: true, MaxResult: 1 << 20}
}

// Close implements claim.Store.
func (*brokenClient) Close() error { return nil }
