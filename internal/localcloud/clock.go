package localcloud

import (
	"sync"
	"time"
)

// Clock is the time by which jobs fire. It is safe for concurrent use.
type Clock interface {
	// Now is the current time, without a monotonic reading.
	Now() time.Time
	// Move sets the clock forward to a time; an earlier one than Now changes nothing.
	Move(to time.Time)
	// Moved says whether the clock differs from real time, so that handlers must be told of it.
	Moved() bool
	// Running says whether time passes by itself.
	Running() bool
}

// RealClock returns a clock that runs in real time and, once moved, ahead of it.
func RealClock() Clock { return &realClock{} }

type realClock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *realClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return time.Now().Add(c.offset).Round(0)
}

func (c *realClock) Move(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if ahead := to.Sub(time.Now().Add(c.offset).Round(0)); ahead > 0 {
		c.offset += ahead
	}
}

func (c *realClock) Moved() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.offset != 0
}

func (c *realClock) Running() bool { return true }

// ManualClock returns a clock that stands at start until it is moved.
func ManualClock(start time.Time) Clock { return &manualClock{now: start.Round(0)} }

type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now
}

func (c *manualClock) Move(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if to.After(c.now) {
		c.now = to.Round(0)
	}
}

func (c *manualClock) Moved() bool { return true }

func (c *manualClock) Running() bool { return false }
