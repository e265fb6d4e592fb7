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

// write is an insert, or a swap of the version old. Sent is the moment of it.
func (c *Claimer) write(ctx context.Context, sent moment, limit time.Duration, id string, old Version, r Record) (answer, error) {
	verb := verbSwap
	if old == "" {
		verb = verbInsert
	}

	return c.call(ctx, sent, limit, verb, id, old, r)
}

func (c *Claimer) get(ctx context.Context, id string) (Snapshot, error) {
	a, err := c.call(ctx, c.clock.moment(), c.timeout, verbGet, id, "", Record{})

	return a.Snapshot, err
}

// answer is what the store said, and when that was received.
type answer struct {
	Snapshot

	ok       bool
	received moment
}

const (
	verbInsert = "insert"
	verbSwap   = "swap"
	verbGet    = "get"
)

func (c *Claimer) call(
	ctx context.Context, sent moment, limit time.Duration, verb, id string, old Version, r Record,
) (a answer, err error) {
	if end, limited := ctx.Deadline(); !limited || end.Sub(sent.mono) > limit {
		limited := withBudget(ctx, sent.mono.Add(limit))
		defer limited.cancel()

		ctx = limited
	}

	switch verb {
	case verbInsert:
		a.Snapshot, a.ok, err = c.backend.Insert(ctx, id, r)
	case verbSwap:
		a.Snapshot, a.ok, err = c.backend.Swap(ctx, id, old, r)
	default:
		a.Snapshot, err = c.backend.Get(ctx, id)
	}

	a.received = c.clock.moment()

	if err == nil || errors.Is(err, ErrNotFound) {
		c.clock.learn(a.Now, sent, a.received)

		return a, err //nolint:wrapcheck // it is wrapped where it is known what the call was for
	}

	c.observe(ctx, Event{Kind: EventStoreError, Verb: verb, ID: id, Duration: a.received.mono.Sub(sent.mono), Err: err})

	return answer{received: a.received}, err //nolint:wrapcheck // as above
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
