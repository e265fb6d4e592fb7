package jobspec

import (
	"math"
	"sort"
	"time"
)

// forever stands for a time that no limit reaches; sums that would overflow stop there.
const forever = time.Duration(math.MaxInt64)

// manyRetries bounds the search for the last retry within a time; a day of retries each millisecond stays below it.
const manyRetries = 1 << 40

// backoff is Cloud Scheduler's wait between attempts: min·2^k while k <= doublings, then min·2^doublings more with each retry,
// never more than max.
type backoff struct {
	min, max  time.Duration
	doublings int
}

// interval is B_k, the wait before retry k+1.
func (b backoff) interval(k int) time.Duration {
	return min(b.uncapped(k), b.max)
}

// uncapped is B_k as if there were no max.
func (b backoff) uncapped(k int) time.Duration {
	doubled := b.min
	for range min(k, b.doublings) {
		if doubled <= 0 || doubled == forever {
			return doubled
		}
		doubled = times(doubled, 2)
	}
	if k <= b.doublings {
		return doubled
	}
	return times(doubled, k-b.doublings+1)
}

// start is S_k, the start of retry k after the first attempt when each attempt before it failed at once.
func (b backoff) start(k int) time.Duration {
	if b.min <= 0 {
		return 0
	}
	var sum time.Duration
	for i := range min(k, b.doublings+1) {
		wait := b.interval(i)
		if wait == b.max {
			return plus(sum, times(b.max, k-i))
		}
		sum = plus(sum, wait)
	}
	linear := k - b.doublings - 1 // how many waits grow by one step each: 2, 3, … times the last doubled one
	if linear <= 0 {
		return sum
	}
	step := b.uncapped(b.doublings)
	below := min(linear, int((b.max-1)/step)-1) // those of them that are below max
	if below > 0 {
		sum = plus(sum, times(step, triangle(below+1)-1))
	}
	return plus(sum, times(b.max, linear-max(below, 0)))
}

// lastBy is the greatest k for which retry k starts within the limit, when each retry before it was held for hold; 0 when none
// does.
func (b backoff) lastBy(limit, hold time.Duration) int {
	return sort.Search(manyRetries, func(i int) bool {
		return plus(b.start(i+1), times(hold, i)) > limit
	})
}

// plus adds two times of at least zero and stops at forever.
func plus(a, b time.Duration) time.Duration {
	if a > forever-b {
		return forever
	}
	return a + b
}

// times multiplies a time of at least zero and stops at forever.
func times(d time.Duration, n int) time.Duration {
	if n <= 0 || d <= 0 {
		return 0
	}
	if d > forever/time.Duration(n) {
		return forever
	}
	return d * time.Duration(n)
}

// triangle is 1 + 2 + … + n, and stops at the greatest int.
func triangle(n int) int {
	if n >= math.MaxInt32 {
		return math.MaxInt
	}
	return n * (n + 1) / 2
}
