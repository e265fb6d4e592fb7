package claim

import (
	"sync/atomic"
	"time"
)

// moment is one point in time by both clocks of the process. The monotonic clock may stand still while the machine sleeps, the wall
// clock may be set back: whichever comes first ends a lease.
type moment struct {
	mono time.Time // with a monotonic reading
	wall int64     // by the wall clock, in microseconds since 1970: what every store keeps of a time
}

func (m moment) add(d time.Duration) moment {
	return moment{mono: m.mono.Add(d), wall: m.wall + d.Microseconds()}
}

func (m moment) isZero() bool { return m.mono.IsZero() }

// reached reports whether m is at or past end, by either clock.
func (m moment) reached(end moment) bool { return m.wall >= end.wall || !m.mono.Before(end.mono) }

// since is how long before m arrived was; zero for the zero time. A time with a monotonic reading is compared by it.
func (m moment) since(arrived time.Time) time.Duration {
	if arrived.IsZero() {
		return 0
	}

	return max(m.mono.Sub(arrived), 0)
}

// until is how long it is to end, by the nearer of the clocks.
func (m moment) until(end moment) time.Duration {
	return min(end.mono.Sub(m.mono), microseconds(end.wall-m.wall))
}

// earlier is the earlier of two ends, clock by clock. A zero end is none.
func earlier(a, b moment) moment {
	if b.isZero() {
		return a
	}

	if b.mono.Before(a.mono) {
		a.mono = b.mono
	}

	a.wall = min(a.wall, b.wall)

	return a
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// clock is the local clock and what is known of the store's.
type clock struct {
	now    func() time.Time
	offset atomic.Int64 // store - local, microseconds
}

func (c *clock) moment() moment {
	now := time.Now()
	wall := now

	if c.now != nil {
		wall = c.now()
	}

	return moment{mono: now, wall: wall.UnixMicro()}
}

// store is the store's time at a moment, as far as it is known.
func (c *clock) store(at moment) time.Time { return time.UnixMicro(at.wall + c.offset.Load()).UTC() }

// slowest is how long a call may take for its answer to say something of the clocks: they are known to half of that.
const slowest = 5 * time.Second

// learn compares the store's time in an answer with the middle of the call that brought it. One that took too long, since the
// process was frozen or its clock set meanwhile, would make the times written for others wrong by as much.
func (c *clock) learn(now time.Time, sent, received moment) {
	took := received.wall - sent.wall
	if now.IsZero() || took < 0 || took > slowest.Microseconds() {
		return
	}

	c.offset.Store(now.UnixMicro() - (sent.wall + took/2))
}
