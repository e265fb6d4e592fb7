package claim

import (
	"sync/atomic"
	"time"
)

// moment is one point in time by both clocks of the process. The monotonic clock may stand still while the machine sleeps, the wall
// clock may be set back: whichever comes first ends a lease.
type moment struct {
	mono  time.Time     // with a monotonic reading
	ahead time.Duration // how far the wall clock is ahead of what mono says of it
}

// wall is the moment by the wall clock, without a monotonic reading.
func (m moment) wall() time.Time { return m.mono.Round(0).Add(m.ahead) }

func (m moment) add(d time.Duration) moment { return moment{mono: m.mono.Add(d), ahead: m.ahead} }

func (m moment) isZero() bool { return m.mono.IsZero() }

// reached reports whether m is at or past end, by either clock.
func (m moment) reached(end moment) bool {
	return !m.mono.Before(end.mono) || !m.wall().Before(end.wall())
}

// since is how long before m arrived was; zero for the zero time. A time with a monotonic reading is compared by it.
func (m moment) since(arrived time.Time) time.Duration {
	if arrived.IsZero() {
		return 0
	}

	return max(m.mono.Sub(arrived), 0)
}

// until is how long it is to end, by the nearer of the clocks.
func (m moment) until(end moment) time.Duration {
	return min(end.mono.Sub(m.mono), end.wall().Sub(m.wall()))
}

// earlier is the earlier of two ends, clock by clock. A zero end is none.
func earlier(a, b moment) moment {
	if b.isZero() {
		return a
	}

	wall := a.wall()
	if other := b.wall(); other.Before(wall) {
		wall = other
	}

	if b.mono.Before(a.mono) {
		a.mono = b.mono
	}

	a.ahead = wall.Sub(a.mono.Round(0))

	return a
}

// clock is the local clock and what is known of the store's.
type clock struct {
	now    func() time.Time
	offset atomic.Int64 // store - local, nanoseconds
}

func (c *clock) moment() moment {
	now := time.Now()
	if c.now == nil {
		return moment{mono: now}
	}

	return moment{mono: now, ahead: c.now().Round(0).Sub(now.Round(0))}
}

// store is the store's time at a moment, as far as it is known, at the precision that every store keeps.
func (c *clock) store(at moment) time.Time {
	return at.wall().Add(time.Duration(c.offset.Load())).UTC().Truncate(time.Microsecond)
}

// slowest is how long a call may take for its answer to say something of the clocks: they are known to half of that.
const slowest = 5 * time.Second

// learn compares the store's time in an answer with the middle of the call that brought it. One that took too long, since the
// process was frozen or its clock set meanwhile, would make the times written for others wrong by as much.
func (c *clock) learn(now time.Time, sent, received moment) {
	took := received.wall().Sub(sent.wall())
	if now.IsZero() || took < 0 || took > slowest {
		return
	}

	middle := sent.wall().Add(took / 2)
	c.offset.Store(int64(now.Sub(middle)))
}
