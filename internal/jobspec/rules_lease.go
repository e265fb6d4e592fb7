package jobspec

import (
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func leaseRules() []judgedRule {
	return []judgedRule{
		limit("request-timeout-invalid", "The request timeout is not a positive duration", judgeRequestTimeout),
		proof("lease-too-short", "The lease is shorter than the work may take", judgeLease),
		proof("retention-too-short", "The record goes before the last retry can come", judgeRetention),
		warning("deadline-before-request-timeout", "Retries start beside live work", judgeTimeout),
	}
}

// provable says whether leases and retries can be judged at all: not for a topic, and not for an App Engine target whose attempt
// deadline is missing, which has a finding of its own.
func provable(v *judge) bool {
	if _, topic := get(v, v.job.PubSub); topic || v.job.PubSub.IsUnknown() {
		return false
	}
	missing := judge{subject: v.subject}
	judgeAppEngineDeadline(&missing)
	return len(missing.problems) == 0
}

func judgeRequestTimeout(v *judge) {
	timeout, ok := get(v, v.job.Deduplication.RequestTimeout)
	if ok && timeout <= 0 {
		v.fail(Path{"deduplication", 0, "request_timeout"}, seconds(timeout)+" is not a positive duration",
			"It is the longest that the target lets a request live.", "Set it to the timeout of the service, for example 300s, or leave it "+
				"out for the attempt deadline.")
	}
}

func judgeLease(v *judge) {
	lease, ok := get(v, v.job.Deduplication.Lease)
	if !ok || !provable(v) {
		return
	}
	renew, ok := get(v, v.derived.Deduplication.RenewLease)
	if !ok {
		return
	}
	var deadline, timeout time.Duration
	detail := "A renewed lease must outlast a renewal that comes late."
	if !renew {
		var one, two bool
		deadline, one = get(v, v.derived.AttemptDeadline)
		timeout, two = get(v, v.derived.Deduplication.RequestTimeout)
		if !one || !two {
			return
		}
		detail = fmt.Sprintf("Work may go on for %s (attempt_deadline %s, request_timeout %s). A lease that ends before it lets a retry "+
			"start the work a second time beside the first.", seconds(max(deadline, timeout)), seconds(deadline), seconds(timeout))
	}
	if least := claim.MinLease(deadline, timeout, renew); lease < least {
		v.fail(Path{"deduplication", 0, "lease"}, seconds(lease)+" is too short", detail, "Set it to at least "+seconds(least)+
			", or leave it out for "+seconds(claim.DefaultLease(deadline, timeout, renew))+".")
	}
}

func judgeRetention(v *judge) {
	retention, ok := get(v, v.job.Deduplication.Retention)
	if !ok || !provable(v) {
		return
	}
	horizon, one := get(v, v.derived.Horizon)
	blocked, two := get(v, v.derived.Blocked)
	if !one || !two {
		return
	}
	if least := claim.MinRetention(horizon, blocked); retention < least {
		v.fail(Path{"deduplication", 0, "retention"}, seconds(retention)+" is too short", fmt.Sprintf("Retries of a run can go on for %s and "+
			"a dead attempt can block it for %s. A delivery that finds the record gone runs the work again.", seconds(horizon), seconds(blocked)),
			"Set it to at least "+seconds(wholeSecond(least))+", or leave it out for "+seconds(claim.DefaultRetention(horizon, blocked))+".")
	}
}

func judgeTimeout(v *judge) {
	if !provable(v) {
		return
	}
	timeout, one := get(v, v.derived.Deduplication.RequestTimeout)
	deadline, two := get(v, v.derived.AttemptDeadline)
	if !one || !two || deadline >= timeout {
		return
	}
	remedy := "Set attempt_deadline to at least " + seconds(timeout) + ", or the request timeout of the service and of this job to at most " +
		seconds(deadline) + "."
	if v.job.HTTP.IsSet() && timeout > maxHTTPDeadline {
		remedy = "Set the request timeout of the service and of this job to at most " + seconds(deadline) + "; an attempt_deadline goes no " +
			"further than " + seconds(maxHTTPDeadline) + "."
	}
	v.fail(Path{"attempt_deadline"}, seconds(deadline)+" is shorter than the request timeout", fmt.Sprintf("The work may go on for %s, but "+
		"Cloud Scheduler gives up after %s and retries: those retries meet the live attempt and are told to come back.", seconds(timeout),
		seconds(deadline)), remedy)
}
