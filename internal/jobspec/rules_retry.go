package jobspec

import (
	"fmt"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func retryRules() []judgedRule {
	return []judgedRule{
		acceptableLimit("retry-out-of-range", "A retry setting is out of range", judgeRetryBounds),
		acceptableLimit("retry-contradiction", "Two retry settings contradict each other", judgeRetryContradiction),
		acceptableProof("retry-ends-before-lease", "A crash of the first delivery loses the run", judgeFirstCrash),
		warning("last-retry-before-lease", "A crash of a later delivery loses the run", judgeLaterCrash),
		warning("no-retry", "Any crash loses the run", judgeNoRetry),
		warning("recovery-after-next-run", "The first retry after the lease comes after the next run", judgeNextRun),
	}
}

// retryPath leads to an attribute of the block, or to the block where there is none.
func retryPath(v *judge, attribute string) Path {
	if !v.job.Retry.Set {
		return Path{"retry_config"}
	}
	return Path{"retry_config", 0, attribute}
}

func judgeRetryBounds(v *judge) {
	r := v.job.Retry
	if n, ok := get(v, r.Count); ok && (n < 0 || n > defaultCount) {
		v.fail(retryPath(v, "retry_count"), fmt.Sprintf("%d is out of range", n), fmt.Sprintf("Cloud Scheduler takes 0 to %d retries.",
			defaultCount), fmt.Sprintf("Set it to %d, the nearest that is allowed.", min(max(n, 0), defaultCount)))
	}
	if n, ok := get(v, r.MaxDoublings); ok && n < 0 {
		v.fail(retryPath(v, "max_doublings"), fmt.Sprintf("%d is out of range", n), "The wait doubles 0 times or more.",
			fmt.Sprintf("Set it to 0, or leave it out for %d.", googleMaxDoublings))
	}
	if d, ok := get(v, r.MaxDuration); ok && d < 0 {
		v.fail(retryPath(v, "max_retry_duration"), seconds(d)+" is out of range", "Time does not run backwards.",
			"Set it to 0s, which is no limit, or to a positive duration.")
	}
	judgeBackoff(v, "min_backoff_duration", r.MinBackoff)
	judgeBackoff(v, "max_backoff_duration", r.MaxBackoff)
}

func judgeBackoff(v *judge, attribute string, value Value[time.Duration]) {
	if d, ok := get(v, value); ok && d <= 0 {
		v.fail(retryPath(v, attribute), seconds(d)+" is out of range", "Cloud Scheduler reads zero as not set, and nothing waits for less.",
			"Set it to a positive duration, or leave it out for a default that fits the lease.")
	}
}

func judgeRetryContradiction(v *judge) {
	least, one := get(v, v.derived.Retry.MinBackoff)
	most, two := get(v, v.derived.Retry.MaxBackoff)
	if !one || !two || most <= 0 || least <= most {
		return
	}
	v.fail(retryPath(v, "min_backoff_duration"), seconds(least)+" is above max_backoff_duration", fmt.Sprintf("No wait is both at least %s "+
		"and at most %s.", seconds(least), seconds(most)), "Set min_backoff_duration to at most "+seconds(most)+", or max_backoff_duration "+
		"to at least "+seconds(least)+".")
}

// recoveryOf is what decides whether the run outlives a crash. It is false when something is not known, when there is nothing to
// outlive, or when the settings are refused for themselves.
func recoveryOf(v *judge) (recovery, bool) {
	if !provable(v) {
		return recovery{}, false
	}
	atMostOnce, ok := get(v, v.derived.Deduplication.AtMostOnce)
	if !ok || atMostOnce {
		return recovery{}, false
	}
	r, ok := get(v, v.derived.recovery)
	if !ok || r.min <= 0 || r.max <= 0 {
		return recovery{}, false
	}
	return r, true
}

// givenWaits are the waits as declared, or in mode observe those that Cloud Scheduler fills in.
func givenWaits(v *judge) given {
	if v.derived.Mode.OrZero() == ModeObserve {
		return given{v.derived.Retry.MinBackoff, v.derived.Retry.MaxBackoff}
	}
	return given{v.job.Retry.MinBackoff, v.job.Retry.MaxBackoff}
}

func judgeFirstCrash(v *judge) {
	r, ok := recoveryOf(v)
	if !ok || r.never() || r.survivesFirst() {
		return
	}
	m := r.mendFirst(givenWaits(v))
	last := "No retry is certain to be made"
	if k := r.lastRetry(); k > 0 {
		last = fmt.Sprintf("The last retry that is certain to be made starts %s after the first attempt", seconds(r.start(k)))
	}
	if r.limit > 0 {
		last += " (max_retry_duration counts from the first attempt, which can be held for " + seconds(r.deadline)
		if r.hold > 0 {
			last += ", and with deduplication.wait each retry for " + seconds(r.hold)
		}
		last += ")"
	}
	v.fail(m.path(v), "the retries end before the lease", fmt.Sprintf("%s. If the first attempt crashes, %s, and a retry must start %s later to "+
		"be sure to find it over, at %s. Each earlier one is told that the run is taken, and after the last nobody runs it.", last,
		leaseInWords(v, r), seconds(claim.Recovery), seconds(r.need())), m.remedy(r))
}

func judgeLaterCrash(v *judge) {
	r, ok := recoveryOf(v)
	if !ok || r.never() || !r.survivesFirst() || r.survivesAny() {
		return
	}
	m := r.mendAny(givenWaits(v))
	v.fail(m.path(v), "a crash of a later delivery can lose the run", fmt.Sprintf("A crash of the first delivery is mended by a retry. But "+
		"if the delivery before the last retry crashes, that retry can come %s later, while %s, and a retry must start %s later to be sure "+
		"to find it over, at %s.", seconds(r.interval(max(r.count, 1)-1)), leaseInWords(v, r), seconds(claim.Recovery), seconds(r.need())),
		m.remedy(r))
}

// leaseInWords says when a dead attempt's lease ends, and why.
func leaseInWords(v *judge, r recovery) string {
	if renew := v.derived.Deduplication.RenewLease.OrZero(); renew {
		return fmt.Sprintf("its lease ends up to %s after it began (request_timeout %s and a renewed lease of %s)", seconds(r.blocked),
			seconds(v.derived.Deduplication.RequestTimeout.OrZero()), seconds(v.derived.Deduplication.Lease.OrZero()))
	}
	return fmt.Sprintf("its lease ends up to %s after it began", seconds(r.blocked))
}

// path is the attribute that the mend is about.
func (m mend) path(v *judge) Path {
	switch {
	case m.limit > 0:
		return retryPath(v, "max_retry_duration")
	case m.most > 0:
		return retryPath(v, "max_backoff_duration")
	}
	return retryPath(v, "min_backoff_duration")
}

// remedy is the mend in words.
func (m mend) remedy(r recovery) string {
	var parts []string
	if m.most > 0 {
		parts = append(parts, fmt.Sprintf("max_backoff_duration, which caps each wait at %s, to at least %s", seconds(r.max), seconds(m.most)))
	}
	if m.least > 0 {
		parts = append(parts, "min_backoff_duration to at least "+seconds(m.least))
	}
	if m.limit > 0 {
		parts = append(parts, "max_retry_duration to at least "+seconds(m.limit))
	}
	text := "Set " + strings.Join(parts, " and ")
	if m.count > 0 {
		text += fmt.Sprintf(", or retry_count to at least %d", m.count)
	}
	return text + "."
}

func judgeNoRetry(v *judge) {
	r, ok := recoveryOf(v)
	if !ok || !r.never() {
		return
	}
	r.count = defaultCount
	least := r.defaultMin(givenWaits(v).max)
	v.fail(retryPath(v, "retry_count"), "without retries any crash loses the run", "retry_count 0 does not prevent duplicates: a reply that "+
		"gets lost leads to a second delivery all the same. The claim prevents them, and makes retries safe.",
		fmt.Sprintf("Set retry_count to %d and min_backoff_duration to at least %s.", defaultCount, seconds(least)))
}

func judgeNextRun(v *judge) {
	r, ok := recoveryOf(v)
	schedule, known := scheduleOf(v)
	if !ok || !known {
		return
	}
	interval := schedule.ShortestInterval()
	k, ok := r.firstAfter()
	if !ok || interval <= 0 || r.start(k) <= interval {
		return
	}
	v.fail(Path{"schedule"}, "a crashed run is mended only after the next one is due", fmt.Sprintf("The first retry after the lease starts "+
		"%s after the run, and the next run can be due %s after it. Google's texts say both that retries end there and that the next run "+
		"may be skipped.", seconds(r.start(k)), seconds(interval)), mendNextRun(v, r, interval))
}

// mendNextRun is the largest lease that a schedule can bear, and the retry that goes with it.
func mendNextRun(v *judge, r recovery, interval time.Duration) string {
	const otherwise = " Or run the job less often, or accept the risk."
	if r.need() <= interval {
		return fmt.Sprintf("Set min_backoff_duration to %s%s.", seconds(wholeSecond(r.need())), raisedMax(v, wholeSecond(r.need()))) + otherwise
	}
	room := interval - claim.Recovery
	if v.derived.Deduplication.RenewLease.OrZero() {
		lease := claim.MinLease(0, 0, true)
		return fmt.Sprintf("Set deduplication.request_timeout to at most %s, deduplication.lease to %s and min_backoff_duration to %s%s.",
			seconds(room-lease), seconds(lease), seconds(interval), raisedMax(v, interval)) + otherwise
	}
	work := room - claim.MinLease(0, 0, false)
	return fmt.Sprintf("Set attempt_deadline and deduplication.request_timeout to at most %s, deduplication.lease to %s and "+
		"min_backoff_duration to %s%s.", seconds(work), seconds(room), seconds(interval), raisedMax(v, interval)) + otherwise
}

// raisedMax names max_backoff_duration where it would cap the wait.
func raisedMax(v *judge, wait time.Duration) string {
	if most, ok := givenWaits(v).max.Get(); ok && most < wait {
		return " and max_backoff_duration to at least " + seconds(wait)
	}
	return ""
}
