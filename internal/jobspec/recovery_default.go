package jobspec

import (
	"math"
	"sort"
	"time"
)

// The retry settings that Cloud Scheduler fills in, and ours where they differ.
const (
	googleMinBackoff   = 5 * time.Second
	googleMaxBackoff   = time.Hour
	googleMaxDoublings = 5
	defaultCount       = 5
)

// defaultMin is the min_backoff_duration for a configuration that gives none. It is the first of these that there is, never above
// a given max:
//
//  1. the smallest whole second of at least 5 s that survives a crash of any delivery but the last, with a retry to spare;
//  2. the smallest that survives a crash of the first delivery by the count of retries;
//  3. 5 s, if that survives such a crash by the time of retries;
//  4. the smallest that survives it by the time of retries, for the least number of them;
//  5. no min would do, and the check says so: 5 s, or without a count of retries the time that a longer max_retry_duration needs.
//
// Without a count of retries the first choice is the time from an attempt to the end of its lease.
func (r recovery) defaultMin(given Value[time.Duration]) time.Duration {
	most := given.Or(forever).OrZero()
	floor := min(googleMinBackoff, most)
	if r.never() {
		return floor
	}
	if r.count <= 0 {
		return r.defaultMinByTime(given, floor)
	}
	if least, ok := smallest(floor, most, func(d time.Duration) bool { return r.withMin(d, given).survivesTwo() }); ok {
		return least
	}
	byCount := func(d time.Duration) bool {
		with := r.withMin(d, given)
		return with.start(with.count) >= with.need()
	}
	if least, ok := smallest(floor, most, byCount); ok {
		return least
	}
	return r.defaultMinByTime(given, floor)
}

// defaultMinByTime is the default where only max_retry_duration can let retries go on for long enough.
func (r recovery) defaultMinByTime(given Value[time.Duration], floor time.Duration) time.Duration {
	if r.count <= 0 {
		for _, least := range []time.Duration{wholeSecond(r.need()), r.need()} {
			with := r.withMin(least, given)
			if least >= floor && with.min <= with.max && with.survivesFirst() {
				return least
			}
		}
	}
	if r.withMin(floor, given).survivesFirst() {
		return floor
	}
	if least, ok := r.minByTime(given); ok {
		return least
	}
	if least := wholeSecond(r.need()); r.count <= 0 && !given.IsSet() {
		return least
	}
	return floor
}

// minByTime is a min with which some retry starts after the lease and is certain to be made by max_retry_duration. For each
// number of retries the smallest such min brings that retry as early after the lease as can be, so no other min need be tried.
func (r recovery) minByTime(given Value[time.Duration]) (time.Duration, bool) {
	most := given.Or(forever).OrZero()
	within := r.limit - r.deadline
	if r.limit <= 0 || most <= 0 || within < r.need() {
		return 0, false
	}
	fewest := 1
	if most < r.need() {
		fewest = int((r.need()-1)/most) + 1
	}
	for _, unit := range []time.Duration{time.Second, time.Nanosecond} {
		for k := fewest; k < fewest+8; k++ {
			reaches := func(d time.Duration) bool { return r.withMin(d, given).start(k) >= r.need() }
			least, ok := smallestOf(unit, 1, most, reaches)
			if ok && r.withMin(least, given).survivesFirst() {
				return least, true
			}
		}
	}
	return 0, false
}

// smallest is the smallest whole second from floor to most that satisfies ok, or most itself where only a fraction of a second
// does; ok must stay true once it is.
func smallest(floor, most time.Duration, ok func(time.Duration) bool) (time.Duration, bool) {
	return smallestOf(time.Second, floor, most, ok)
}

func smallestOf(unit, floor, most time.Duration, ok func(time.Duration) bool) (time.Duration, bool) {
	const longest = math.MaxInt64 / int64(time.Second) / 4
	from := int((floor + unit - 1) / unit)
	to := int(min(most, time.Duration(longest)*time.Second) / unit)
	if to >= from {
		n := from + sort.Search(to-from+1, func(i int) bool { return ok(time.Duration(from+i) * unit) })
		if n <= to {
			return time.Duration(n) * unit, true
		}
	}
	if most != forever && most >= floor && ok(most) {
		return most, true
	}
	return 0, false
}

// wholeSecond rounds up to a whole second.
func wholeSecond(d time.Duration) time.Duration {
	if rest := d % time.Second; rest > 0 {
		return plus(d, time.Second-rest)
	}
	return d
}
