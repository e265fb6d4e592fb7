package jobspec

import "time"

// mend is the smallest change of a retry_config that makes a proof hold. A zero field is no change.
type mend struct {
	least time.Duration // min_backoff_duration, at least
	most  time.Duration // max_backoff_duration, at least
	limit time.Duration // max_retry_duration, at least
	count int           // instead of the others: retry_count, at least; 0: no count alone mends it
}

// mended is the smallest change of min, or where a given max forbids that of max, or of both, with which ok holds. ok must stay
// true once it is, as either grows.
func (r recovery) mended(given Value[time.Duration], ok func(recovery) bool) mend {
	var m mend
	for n := r.count + 1; n <= defaultCount; n++ {
		more := r
		more.count = n
		if ok(more) {
			m.count = n
			break
		}
	}
	withMin := func(given Value[time.Duration]) func(time.Duration) bool {
		return func(d time.Duration) bool { return ok(r.withMin(d, given)) }
	}
	most := given.Or(forever).OrZero()
	if least, found := smallest(time.Second, most, withMin(given)); found && least > r.min {
		m.least = least
		return m
	}
	withMax := func(d time.Duration) bool {
		more := r
		more.max = d
		return ok(more)
	}
	if longer, found := smallest(r.max, forever, withMax); found {
		m.most = longer
		return m
	}
	m.least, _ = smallest(time.Second, forever, withMin(Unset[time.Duration]()))
	free := r.withMin(m.least, Unset[time.Duration]())
	m.most, _ = smallest(max(r.max, m.least), forever, func(d time.Duration) bool {
		free.max = d
		return ok(free)
	})
	return m
}

// mendFirst is the smallest change with which a crash of the first delivery does not lose the run.
func (r recovery) mendFirst(given Value[time.Duration]) mend {
	if r.count > 0 {
		return r.mended(given, func(r recovery) bool { return r.start(r.count) >= r.need() })
	}
	var m mend
	for n := 1; n <= defaultCount && m.count == 0; n++ {
		if r.start(n) >= r.need() {
			m.count = n
		}
	}
	k := r.lastBy(r.need()-1, 0) + 1
	m.limit = wholeSecond(plus(plus(r.start(k), times(r.hold, k-1)), r.deadline))
	return m
}

// mendAny is the smallest change with which a crash of any delivery but the last does not lose the run.
func (r recovery) mendAny(given Value[time.Duration]) mend {
	m := r.mended(given, recovery.survivesAny)
	m.count = 0 // one more retry moves the last delivery, and with it what is demanded
	return m
}
