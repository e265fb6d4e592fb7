package jobspec

import (
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// recovery is what decides whether a run outlives the crash of a delivery: the retries on one side, the lease on the other.
type recovery struct {
	backoff

	count    int           // R
	limit    time.Duration // M; 0: none
	deadline time.Duration // D
	blocked  time.Duration // H
	// hold is how long a retry that meets the lease is kept waiting at most. Zero unless the handler waits for the outcome: a
	// refusal otherwise comes at once. Each wait brings the retries after it closer to M.
	hold time.Duration
}

// need is how late a retry must start to find the lease of a dead first attempt over.
func (r recovery) need() time.Duration { return plus(r.blocked, claim.Recovery) }

// never says that there are no retries at all.
func (r recovery) never() bool { return r.count <= 0 && r.limit <= 0 }

// lastRetry is the last retry that is certain to be made. Both limits must be reached before retries stop, so it is the later of
// the last by count and the last that starts by M even if the first attempt is held until the deadline.
func (r recovery) lastRetry() int {
	last := max(r.count, 0)
	if within := r.limit - r.deadline; r.limit > 0 && within >= 0 {
		last = max(last, r.lastBy(within, r.hold))
	}
	return last
}

// survivesFirst proves that a crash of the first delivery does not lose the run.
func (r recovery) survivesFirst() bool { return r.start(r.lastRetry()) >= r.need() }

// survivesAny proves that a crash of any delivery but the last does not lose the run: the wait before the last retry by count, and
// with it each later one, is longer than a lease.
func (r recovery) survivesAny() bool { return r.interval(max(r.count, 1)-1) >= r.need() }

// survivesTwo proves that a crash of the first delivery is mended even if the last retry does not get through. It is what
// defaults are chosen by, not what is demanded.
func (r recovery) survivesTwo() bool {
	return r.survivesFirst() && r.survivesAny() && (r.count < 3 || r.start(r.count-1) >= r.need())
}

// firstAfter is the first certain retry that starts after the lease, and false when there is none.
func (r recovery) firstAfter() (int, bool) {
	last := r.lastRetry()
	if r.start(last) < r.need() {
		return 0, false
	}
	return r.lastBy(r.need()-1, 0) + 1, true
}

// horizon is the longest time from the first delivery of a run to the end of its last one.
func (r recovery) horizon() time.Duration {
	byCount := plus(times(r.deadline, r.count), r.start(max(r.count, 0)))
	var next time.Duration
	if r.limit > 0 {
		next = r.interval(r.lastBy(r.limit, 0))
	}
	byLimit := plus(plus(max(r.limit, 0), r.deadline), next)
	return plus(max(byCount, byLimit), r.deadline)
}

// withMin is r with another min, and where max is not given with the max that follows from it.
func (r recovery) withMin(least time.Duration, given Value[time.Duration]) recovery {
	r.min = least
	if most, ok := given.Get(); ok {
		r.max = most
		return r
	}
	r.max = forever
	r.max = r.defaultMax()
	return r
}

// defaultMax is max(1 h, the wait before the last retry by count, min): no wait of those is cut.
func (r recovery) defaultMax() time.Duration {
	return max(googleMaxBackoff, r.uncapped(max(r.count, 1)-1), r.min)
}
