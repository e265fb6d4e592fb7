package localcloud

import (
	"math"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
)

// backoff is the wait before retry k, counted from 0: it doubles up to doublings times, then grows by equal steps, and is capped.
func backoff(c *schedulerpb.RetryConfig, k int) time.Duration {
	least, most := c.GetMinBackoffDuration().AsDuration(), c.GetMaxBackoffDuration().AsDuration()
	doublings := int(c.GetMaxDoublings())
	factor := math.Pow(2, float64(min(k, doublings)))

	if k > doublings {
		factor *= float64(k - doublings + 1)
	}

	wait := float64(least) * factor
	if wait >= float64(most) {
		return most
	}

	return time.Duration(wait)
}

// nextRetry decides whether a failed run is tried again and after which wait. Retries go on until both limits are reached: the count,
// and the time since the first attempt by which the last retry must start; a duration of zero is no limit that could keep them going.
func nextRetry(c *schedulerpb.RetryConfig, retries int, since time.Duration) (time.Duration, bool) {
	wait := backoff(c, retries)
	if retries < int(c.GetRetryCount()) {
		return wait, true
	}

	return wait, since+wait <= c.GetMaxRetryDuration().AsDuration() && c.GetMaxRetryDuration().AsDuration() > 0
}
