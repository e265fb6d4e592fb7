package claim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	firstPause = 10 * time.Millisecond
	maxPause   = 500 * time.Millisecond
)

// The calls to the store: each under its own deadline, its answer compared with the clock, its failure observed.

func (c *Claimer) insert(ctx context.Context, id string, r Record) (Snapshot, bool, error) {
	return c.call(ctx, verbInsert, id, "", r)
}

func (c *Claimer) swap(ctx context.Context, id string, old Version, r Record) (Snapshot, bool, error) {
	return c.call(ctx, verbSwap, id, old, r)
}

func (c *Claimer) get(ctx context.Context, id string) (Snapshot, error) {
	snap, _, err := c.call(ctx, verbGet, id, "", Record{})

	return snap, err
}

const (
	verbInsert = "insert"
	verbSwap   = "swap"
	verbGet    = "get"
)

func (c *Claimer) call(ctx context.Context, verb, id string, old Version, r Record) (snap Snapshot, ok bool, err error) {
	sent := c.clock.moment()

	if end, limited := ctx.Deadline(); !limited || end.Sub(sent.mono) > c.timeout {
		limit := withBudget(ctx, c.timeout)
		defer limit.cancel()

		ctx = limit
	}

	switch verb {
	case verbInsert:
		snap, ok, err = c.backend.Insert(ctx, id, r)
	case verbSwap:
		snap, ok, err = c.backend.Swap(ctx, id, old, r)
	default:
		snap, err = c.backend.Get(ctx, id)
	}

	received := c.clock.moment()

	if err == nil || errors.Is(err, ErrNotFound) {
		c.clock.learn(snap.Now, sent, received)

		return snap, ok, err //nolint:wrapcheck // it is wrapped where it is known what the call was for
	}

	c.observe(ctx, Event{Kind: EventStoreError, Verb: verb, ID: id, Duration: received.mono.Sub(sent.mono), Err: err})

	return Snapshot{}, false, err //nolint:wrapcheck // as above
}

// readBack reads what became of a write that returned an error, trying until ctx ends. The zero Version: nothing is there.
func (c *Claimer) readBack(ctx context.Context, id string, cause error) (Snapshot, error) {
	for wait := firstPause; ; wait = min(2*wait, maxPause) {
		// A store that is busy is given time before it is asked again; otherwise the answer is most likely there.
		if errors.Is(cause, ErrConflict) {
			if !pause(ctx, wait) {
				return Snapshot{}, fmt.Errorf("%w: %w", ErrAmbiguous, cause)
			}
		}

		snap, err := c.get(ctx, id)
		if err == nil {
			return snap, nil
		}

		if errors.Is(err, ErrNotFound) {
			return Snapshot{Now: snap.Now}, nil
		}

		if !pause(ctx, wait) {
			return Snapshot{}, fmt.Errorf("%w: %w; then the read-back: %w", ErrAmbiguous, cause, err)
		}
	}
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
