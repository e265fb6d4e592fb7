package jobspec

import (
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// effectiveRetry fills in what the block leaves out. In mode observe the defaults are Cloud Scheduler's; in mode enforce they follow
// from what the block sets, so that a crash does not lose the run where any setting of the rest prevents it.
func effectiveRetry(r Retry, d Derived) EffectiveRetry {
	r = r.asServerReads()
	mode, ok := d.Mode.Get()
	if !ok {
		return r.orUnknown()
	}
	if mode == ModeObserve {
		return EffectiveRetry{
			Count:        r.Count.Or(0),
			MaxDuration:  r.MaxDuration.Or(0),
			MinBackoff:   r.MinBackoff.Or(googleMinBackoff),
			MaxBackoff:   r.MaxBackoff.Or(googleMaxBackoff),
			MaxDoublings: r.MaxDoublings.Or(googleMaxDoublings),
		}
	}
	e := EffectiveRetry{
		Count:        r.Count.Or(defaultCount),
		MaxDuration:  r.MaxDuration.Or(0),
		MinBackoff:   r.MinBackoff,
		MaxBackoff:   r.MaxBackoff,
		MaxDoublings: r.MaxDoublings.Or(googleMaxDoublings),
	}
	if !e.MinBackoff.IsSet() {
		e.MinBackoff = Unknown[time.Duration]()
		if base, ok := e.base(d); ok && !r.MaxBackoff.IsUnknown() {
			e.MinBackoff = Known(base.defaultMin(r.MaxBackoff))
		}
	}
	if !e.MaxBackoff.IsSet() {
		e.MaxBackoff = e.defaultMax()
	}
	return e
}

// asServerReads puts Cloud Scheduler's defaults in the place of zeros: on the wire a zero cannot be told from a field left out.
func (r Retry) asServerReads() Retry {
	r.MinBackoff = zeroAs(r.MinBackoff, googleMinBackoff)
	r.MaxBackoff = zeroAs(r.MaxBackoff, googleMaxBackoff)
	r.MaxDoublings = zeroAs(r.MaxDoublings, googleMaxDoublings)
	return r
}

func zeroAs[T int | time.Duration](v Value[T], fallback T) Value[T] {
	if v == Known[T](0) {
		return Known(fallback)
	}
	return v
}

func (r Retry) orUnknown() EffectiveRetry {
	return EffectiveRetry{
		Count:        r.Count.OrValue(Unknown[int]()),
		MaxDuration:  r.MaxDuration.OrValue(Unknown[time.Duration]()),
		MinBackoff:   r.MinBackoff.OrValue(Unknown[time.Duration]()),
		MaxBackoff:   r.MaxBackoff.OrValue(Unknown[time.Duration]()),
		MaxDoublings: r.MaxDoublings.OrValue(Unknown[int]()),
	}
}

// defaultMax needs the count, the doublings and min, and nothing else.
func (e EffectiveRetry) defaultMax() Value[time.Duration] {
	count, one := e.Count.Get()
	doublings, two := e.MaxDoublings.Get()
	least, three := e.MinBackoff.Get()
	if !one || !two || !three {
		return Unknown[time.Duration]()
	}
	r := recovery{backoff: backoff{min: max(least, 0), doublings: max(doublings, 0)}, count: count}
	return Known(r.defaultMax())
}

// base is the recovery without min and max, and whether all that it is made of is known. Values that the limits refuse are
// brought to the nearest that the arithmetic can bear.
func (e EffectiveRetry) base(d Derived) (recovery, bool) {
	count, one := e.Count.Get()
	limit, two := e.MaxDuration.Get()
	doublings, three := e.MaxDoublings.Get()
	deadline, four := d.AttemptDeadline.Get()
	blocked, five := d.Blocked.Get()
	wait, six := d.Deduplication.Wait.Get()
	if !one || !two || !three || !four || !five || !six {
		return recovery{}, false
	}
	r := recovery{
		backoff:  backoff{doublings: max(doublings, 0)},
		count:    max(count, 0),
		limit:    max(limit, 0),
		deadline: max(deadline, 0),
		blocked:  max(blocked, 0),
	}
	if wait {
		lease, ok := d.Deduplication.Lease.Get()
		if !ok {
			return recovery{}, false
		}
		r.hold = r.deadline - claim.Margin(lease, r.deadline)
	}
	return r, true
}

func (e EffectiveRetry) recovery(d Derived) Value[recovery] {
	r, ok := e.base(d)
	least, haveMin := e.MinBackoff.Get()
	most, haveMax := e.MaxBackoff.Get()
	if !ok || !haveMin || !haveMax {
		return Unknown[recovery]()
	}
	r.min, r.max = max(least, 0), max(most, 0)
	return Known(r)
}
