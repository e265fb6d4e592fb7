package jobspec_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// scheduler is Cloud Scheduler as its documentation can be read, written apart from the arithmetic that it tests. Retries stop
// only when both limits are reached.
type scheduler struct {
	count            int
	limit, deadline  time.Duration
	least, most      time.Duration
	doublings        int
	startsWithin     bool // the reading of max_retry_duration: a retry must start by then; else the failure must have come before it
	previousFailures int
}

// wait is the time between a failure and the retry after it.
func (s scheduler) wait() time.Duration {
	wait := s.least
	step := s.least
	for k := 1; k <= s.previousFailures && wait < s.most; k++ {
		if k <= s.doublings {
			wait *= 2
			step = wait
		} else {
			wait += step
		}
	}
	return min(wait, s.most)
}

// retry is when the next attempt starts after one that failed at that time, and false when retries are over.
func (s *scheduler) retry(failed time.Duration) (time.Duration, bool) {
	start := failed + s.wait()
	s.previousFailures++
	if s.previousFailures <= s.count {
		return start, true
	}
	if s.startsWithin {
		return start, s.limit > 0 && start <= s.limit
	}
	return start, s.limit > 0 && failed < s.limit
}

// crash is a delivery that claims the run and dies.
type crash struct {
	delivery int           // 0: the first
	claimed  time.Duration // after the delivery's start
	renewed  time.Duration // the last sign of life, after the delivery's start; claimed without renewal
	seen     time.Duration // when the scheduler sees it fail, after the delivery's start
}

// world is a handler behind a scheduler.
type world struct {
	scheduler

	lease time.Duration
	hold  time.Duration // how long a delivery waits for a live lease to end; 0: it is refused at once
	slow  func(delivery int) time.Duration
}

// history is what became of a run.
type history struct {
	last      bool // the crashed delivery was the last one
	recovered bool // a delivery came, or waited, when the lease was over
}

// play sends deliveries until one finds the lease of the crashed one over.
func (w world) play(c crash) history {
	var start, over time.Duration
	for n := 0; ; n++ {
		var failed time.Duration
		switch {
		case n < c.delivery:
			failed = start + w.slow(n)
		case n == c.delivery:
			over = start + c.renewed + w.lease
			failed = start + c.seen
		case start >= over, over <= start+w.hold:
			return history{recovered: true}
		default:
			failed = start + w.hold
		}
		next, ok := w.retry(failed)
		if !ok {
			return history{last: n <= c.delivery}
		}
		start = next
	}
}

// span draws a duration: whole seconds, odd milliseconds, or one of those that sit on an edge.
func span(t *rapid.T, name string, least, most time.Duration, edges ...time.Duration) time.Duration {
	switch rapid.IntRange(0, 2).Draw(t, name+" kind") {
	case 0:
		if len(edges) > 0 {
			return min(max(rapid.SampledFrom(edges).Draw(t, name), least), most)
		}
		fallthrough
	case 1:
		return time.Duration(rapid.Int64Range(int64(least/time.Second), int64(most/time.Second)).Draw(t, name)) * time.Second
	}
	return time.Duration(rapid.Int64Range(int64(least/time.Millisecond), int64(most/time.Millisecond)).Draw(t, name)) * time.Millisecond
}

// maybe draws a value that may be left out.
func maybe[T any](t *rapid.T, name string, draw func() T) jobspec.Value[T] {
	if rapid.Bool().Draw(t, name+" given") {
		return jobspec.Known(draw())
	}
	return jobspec.Unset[T]()
}

// anyJob draws a job whose leases and retries are anything that can be written.
func anyJob(t *rapid.T) jobspec.Job {
	j := nightly()
	if rapid.Bool().Draw(t, "app engine") {
		j = appEngine()
	}
	const s = time.Second
	j.AttemptDeadline = dur(span(t, "deadline", 15*s, 30*time.Minute, 15*s, 20*s, 60*s, 180*s))
	deadline := j.AttemptDeadline.OrZero()
	dedup := &j.Deduplication
	dedup.RequestTimeout = maybe(t, "request_timeout", func() time.Duration { return span(t, "request_timeout", s, time.Hour, deadline) })
	dedup.RenewLease = maybe(t, "renew_lease", func() bool { return rapid.Bool().Draw(t, "renew_lease") })
	dedup.Wait = maybe(t, "wait", func() bool { return rapid.Bool().Draw(t, "wait") })
	dedup.Lease = maybe(t, "lease", func() time.Duration {
		return span(t, "lease", 10*s, 2*time.Hour, deadline+10*s, dedup.RequestTimeout.OrZero()+10*s)
	})
	blocked := jobspec.Derive(j).Blocked.OrZero()
	need := blocked + claim.Recovery
	j.Retry = jobspec.Retry{
		Set:   true,
		Count: maybe(t, "retry_count", func() int { return rapid.IntRange(0, 5).Draw(t, "retry_count") }),
		MaxDuration: maybe(t, "max_retry_duration", func() time.Duration {
			return span(t, "max_retry_duration", 0, 4*time.Hour, 0, deadline, deadline+need, deadline+need+s, 2*need)
		}),
		MinBackoff: maybe(t, "min_backoff_duration", func() time.Duration {
			return span(t, "min_backoff_duration", s, 2*time.Hour, need, need-s, need/15, need/3, 5*s, 70*s)
		}),
		MaxBackoff: maybe(t, "max_backoff_duration", func() time.Duration {
			return span(t, "max_backoff_duration", s, 2*time.Hour, need, need/5, need/2, 60*s)
		}),
		MaxDoublings: maybe(t, "max_doublings", func() int { return rapid.IntRange(0, 16).Draw(t, "max_doublings") }),
	}
	return j
}

// worldOf is the world that the derived values of a job describe.
func worldOf(t *rapid.T, d jobspec.Derived) world {
	deadline := d.AttemptDeadline.OrZero()
	w := world{
		scheduler: scheduler{
			count: d.Retry.Count.OrZero(), limit: d.Retry.MaxDuration.OrZero(), deadline: deadline,
			least: d.Retry.MinBackoff.OrZero(), most: d.Retry.MaxBackoff.OrZero(), doublings: d.Retry.MaxDoublings.OrZero(),
			startsWithin: rapid.Bool().Draw(t, "a retry must start by max_retry_duration"),
		},
		lease: d.Deduplication.Lease.OrZero(),
		slow: func(int) time.Duration {
			if rapid.Bool().Draw(t, "fails at once") {
				return 0
			}
			return span(t, "failure", 0, deadline, deadline)
		},
	}
	if d.Deduplication.Wait.OrZero() {
		w.hold = deadline - claim.Margin(w.lease, deadline)
	}
	return w
}

// anyCrash draws a crash of that delivery: claimed up to the crash, the crash up to the deadline, seen between the two. A renewed
// lease may have been renewed up to the crash, which without its scheduler's knowing may come as late as the request timeout.
func anyCrash(t *rapid.T, d jobspec.Derived, delivery int) crash {
	deadline := d.AttemptDeadline.OrZero()
	crashed := span(t, "crash", 0, deadline, 0, deadline)
	c := crash{delivery: delivery}
	c.claimed = span(t, "claim", 0, crashed, 0, crashed)
	c.renewed = c.claimed
	c.seen = span(t, "seen", crashed, deadline, crashed, deadline)
	if d.Deduplication.RenewLease.OrZero() {
		alive := max(c.claimed, min(crashed, d.Deduplication.RequestTimeout.OrZero()))
		if c.seen == deadline || rapid.Bool().Draw(t, "connection lost before the crash") {
			alive = max(alive, d.Deduplication.RequestTimeout.OrZero())
		}
		c.renewed = span(t, "renewal", c.claimed, alive, alive)
	}
	return c
}

// passes says whether none of these rules found anything.
func passes(j jobspec.Job, rules ...jobspec.RuleID) bool {
	findings := jobspec.Check(j)
	for _, rule := range rules {
		if len(of(findings, rule)) > 0 {
			return false
		}
	}
	return true
}

func demandLeaseRules(t *rapid.T, j jobspec.Job, more ...jobspec.RuleID) {
	rules := append([]jobspec.RuleID{"lease-too-short", "retry-ends-before-lease", "no-retry", "retry-out-of-range"}, more...)
	if !passes(j, rules...) {
		t.Skip("refused")
	}
}

func TestACrashOfTheFirstDeliveryIsOutlivedByEveryJobThatPasses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := anyJob(t)
		demandLeaseRules(t, j)
		d := jobspec.Derive(j)
		for range 25 {
			w, c := worldOf(t, d), anyCrash(t, d, 0)
			if h := w.play(c); !h.recovered {
				t.Fatalf("the run is lost:\nretry %+v\nscheduler %+v\nlease %s, hold %s\ncrash %+v", d.Retry, w.scheduler, w.lease, w.hold, c)
			}
		}
	})
}

func TestACrashOfAnyDeliveryButTheLastIsOutlivedByEveryJobWithoutWarning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := anyJob(t)
		demandLeaseRules(t, j, "last-retry-before-lease")
		d := jobspec.Derive(j)
		for range 25 {
			w, c := worldOf(t, d), anyCrash(t, d, rapid.IntRange(0, 8).Draw(t, "delivery"))
			if h := w.play(c); !h.recovered && !h.last {
				t.Fatalf("the run is lost:\nretry %+v\nscheduler %+v\nlease %s, hold %s\ncrash %+v", d.Retry, w.scheduler, w.lease, w.hold, c)
			}
		}
	})
}

// A handler that waits for the outcome holds each retry for almost a deadline. Without counting that, five retries and a
// max_retry_duration of 317 s would seem to reach past a lease of 292 s: 15 s for a first attempt that is held, then 302 s of waits.
func TestRetriesThatAreHeldComeCloserToTheLimit(t *testing.T) {
	t.Parallel()
	j := with(func(j *jobspec.Job) {
		j.AttemptDeadline = dur(15 * time.Second)
		j.Deduplication = jobspec.Deduplication{Set: true, Lease: dur(292 * time.Second)}
		j.Retry = jobspec.Retry{
			Set: true, Count: num(5), MaxDuration: dur(317 * time.Second), MinBackoff: dur(2 * time.Second), MaxBackoff: dur(60 * time.Second),
		}
	})
	const rule = "retry-ends-before-lease"
	play := func(hold time.Duration) history {
		return world{
			scheduler: scheduler{
				count: 5, limit: 317 * time.Second, deadline: 15 * time.Second, least: 2 * time.Second, most: time.Minute, doublings: 5,
				startsWithin: true,
			},
			lease: 292 * time.Second, hold: hold,
		}.play(crash{})
	}
	if !passes(j, rule) || !play(0).recovered {
		t.Error("without wait a retry comes after the lease, and the rule must say so")
	}
	j.Deduplication.Wait = yes()
	if passes(j, rule) || play(13500*time.Millisecond).recovered {
		t.Error("with wait no retry comes after the lease, and the rule must say so")
	}
}

func TestNoDeliveryEndsAfterTheRetryHorizon(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := jobspec.Derive(anyJob(t))
		w := worldOf(t, d)
		var start time.Duration
		for n := range 200 {
			failed := start + w.slow(n)
			if horizon := d.Horizon.OrZero(); failed > horizon {
				t.Fatalf("delivery %d ends at %s, after the horizon %s:\n%+v", n, failed, horizon, w.scheduler)
			}
			next, ok := w.retry(failed)
			if !ok {
				return
			}
			start = next
		}
	})
}
