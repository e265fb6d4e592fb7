package claim

import (
	"math"
	"time"
)

// The constants of the lease and retention rules, shared with the proofs at plan time.
const (
	// Recovery is how much later than the end of a dead attempt's lease a retry must start, to be sure to find it over.
	Recovery = 10 * time.Second
	// ForcedSlack is how far ahead of the store's clock a schedule time must be for a delivery to count as forced.
	ForcedSlack = 30 * time.Second
	// MaxMargin is the most that a holder stops ahead of the end of its lease.
	MaxMargin = 5 * time.Second

	leaseSlack        = 30 * time.Second // default lease over what an attempt may take
	minLeaseSlack     = 10 * time.Second // least lease over what an attempt may take
	renewedLease      = 60 * time.Second // default lease when it is renewed
	minRenewedLease   = 15 * time.Second
	retentionSlack    = time.Hour
	minDefaultRetains = 24 * time.Hour

	lastSecond = 253402300799 // 9999-12-31T23:59:59Z
)

// Runtime is W, the longest an attempt may live: what is set, or the attempt deadline where nothing is.
func Runtime(deadline, runtime time.Duration) time.Duration {
	if runtime > 0 {
		return runtime
	}

	return deadline
}

// MinLease is the shortest lease that a dead attempt's successor may rely on: max(D, W) + 10 s, or 15 s when the lease is renewed.
// A zero runtime stands for the deadline.
func MinLease(deadline, runtime time.Duration, renew bool) time.Duration {
	if renew {
		return minRenewedLease
	}

	return sum(max(deadline, runtime), minLeaseSlack)
}

// DefaultLease is the lease where none is given: max(D, W) + 30 s, or 60 s when it is renewed. A zero runtime stands for the
// deadline.
func DefaultLease(deadline, runtime time.Duration, renew bool) time.Duration {
	if renew {
		return renewedLease
	}

	return sum(max(deadline, runtime), leaseSlack)
}

// Blocked is H, the longest that a dead attempt can keep others from the run: L without renewal, W + L with it. Runtime is W; with
// renewal it must be given (see [Runtime]).
func Blocked(lease, runtime time.Duration, renew bool) time.Duration {
	if renew {
		return sum(runtime, lease)
	}

	return lease
}

// Margin is how far ahead of an end a holder stops: a tenth of the lease or of the deadline, whichever is less, 5 s at most. Zero
// arguments do not count.
func Margin(lease, deadline time.Duration) time.Duration {
	margin := MaxMargin

	for _, d := range []time.Duration{lease, deadline} {
		if d > 0 {
			margin = min(margin, d/10)
		}
	}

	return margin
}

// RenewEvery is how often a lease is renewed: each third of it.
func RenewEvery(lease time.Duration) time.Duration { return lease / 3 }

// MinRetention is how long a record must be kept at least after its run: retry horizon + H + 1 h.
func MinRetention(horizon, blocked time.Duration) time.Duration {
	return sum(sum(horizon, blocked), retentionSlack)
}

// DefaultRetention is how long a record is kept where nothing is given: twice the least, one day at least.
func DefaultRetention(horizon, blocked time.Duration) time.Duration {
	least := MinRetention(horizon, blocked)

	return max(minDefaultRetains, sum(least, least))
}

// sum adds durations, which end after 292 years: there it stays.
func sum(a, b time.Duration) time.Duration {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}

	return a + b
}

// ExpireAt is when a record stops to count: the latest of the store's time, the schedule time and the end of the lease, plus the
// retention. Zero times do not count. It is never after the year 9999, where the times of most stores end.
func ExpireAt(now, scheduleTime, leaseEnd time.Time, retention time.Duration) time.Time {
	at := now

	for _, t := range []time.Time{scheduleTime, leaseEnd} {
		if t.After(at) {
			at = t
		}
	}

	if at = at.Add(retention); at.Unix() > lastSecond {
		return time.Unix(lastSecond, 0).UTC()
	}

	return at
}

// Forced reports whether a delivery for that schedule time is one of a forced run: the schedule time is further ahead of the
// store's clock than a scheduled delivery can be.
func Forced(scheduleTime, now time.Time) bool { return scheduleTime.After(now.Add(ForcedSlack)) }
