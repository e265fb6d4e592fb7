package jobspec

import "time"

// mend is the smallest change of a retry_config that makes a proof hold. A zero field is no change.
type mend struct {
	least time.Duration // min_backoff_duration, at least
	most  time.Duration // max_backoff_duration, at least
	limit time.Duration // max_retry_duration, at least
	count int           // instead of the others: retry_count, at least; 0: no count alone mends it
}

// given is what a configuration says about the waits. What it leaves out follows from the rest, also after a mend.
type given struct {
	min, max Value[time.Duration]
}

// fitted is r with the waits that follow for it from what is given.
func (r recovery) fitted(g given) recovery {
	least, ok := g.min.Get()
	if !ok {
		least = r.defaultMin(g.max)
	}
	return r.withMin(least, g.max)
}

// mended is the smallest change of min, or where a given max forbids that of max, or of both, with which proved holds. ok implies
// proved and stays true once it is, as either grows; proved itself may not, while min stays the same.
func (r recovery) mended(g given, ok, proved func(recovery) bool) mend {
	m := mend{count: r.mendedByCount(g, ok)}
	withMin := func(most Value[time.Duration]) func(time.Duration) bool {
		return func(d time.Duration) bool { return ok(r.withMin(d, most)) }
	}
	if least, found := smallest(time.Second, g.max.Or(forever).OrZero(), withMin(g.max)); found && least > r.min {
		m.least = least
		return m
	}
	withMax := func(d time.Duration) bool { return ok(r.fitted(given{g.min, Known(d)})) }
	if !g.min.IsSet() {
		withMax = func(d time.Duration) bool { return proved(r.fitted(given{max: Known(d)})) }
	}
	if most, found := smallest(r.max, forever, withMax); found {
		m.most = most
		return m
	}
	m.least, _ = smallest(time.Second, forever, withMin(Unset[time.Duration]()))
	withBoth := func(d time.Duration) bool { return ok(r.withMin(m.least, Known(d))) }
	m.most, _ = smallest(max(r.max, m.least), forever, withBoth)
	return m
}

// mendedByCount is the smallest count of retries with which ok holds, 0 when none does.
func (r recovery) mendedByCount(g given, ok func(recovery) bool) int {
	for n := r.count + 1; n <= defaultCount; n++ {
		more := r
		more.count = n
		if ok(more.fitted(g)) {
			return n
		}
	}
	return 0
}

// mendFirst is the smallest change with which a crash of the first delivery does not lose the run. Without a count of retries it
// is a longer max_retry_duration.
func (r recovery) mendFirst(g given) mend {
	byCount := func(r recovery) bool { return r.start(r.count) >= r.need() }
	if r.count > 0 {
		return r.mended(g, byCount, recovery.survivesFirst)
	}
	m := mend{count: r.mendedByCount(g, byCount)}
	m.limit, _ = smallest(r.limit, forever, func(d time.Duration) bool {
		more := r
		more.limit = d
		return more.fitted(g).survivesFirst()
	})
	return m
}

// mendAny is the smallest change with which a crash of any delivery but the last does not lose the run.
func (r recovery) mendAny(g given) mend {
	m := r.mended(g, recovery.survivesAny, recovery.survivesAny)
	m.count = 0 // one more retry moves the last delivery, and with it what is demanded
	return m
}
