package localcloud

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// naming is what a delivery says about the record that guards its run.
type naming struct {
	// name is the readable name of the run; empty: it cannot be told, for want of a schedule time say.
	name string
	// id is what the record is found by.
	id string
	// lease is how long a claim holds without news.
	lease time.Duration
}

// nameRun tells, as the handler does, which record guards the run of a delivery.
func nameRun(d Delivery) naming {
	job, err := parseJobName(d.Job)
	if err != nil {
		return naming{}
	}

	policy, err := run.ParsePolicy(sentHeader(d.Header, run.HeaderPolicy))
	if err != nil {
		policy = run.Policy{}
	}

	out := naming{lease: policy.Lease}
	if out.lease == 0 {
		limit := cmp.Or(policy.Deadline, defaultHTTPDeadline)
		out.lease = claim.DefaultLease(limit, max(policy.Timeout, limit), policy.Renew)
	}

	identity := run.Identity{
		Project: job.project, Region: job.location, Job: job.job, Scope: policy.Scope, ScheduleTime: d.ScheduleTime,
		Forced: d.Forced && claim.Forced(d.ScheduleTime, d.Clock) && policy.ForcedRuns() == run.ForcedSeparate, Format: policy.Format,
	}

	if d.ScheduleTime.IsZero() {
		return out
	}

	name, err := identity.Name()
	if err == nil {
		out.name, out.id = name, run.ID(name)
	}

	return out
}

func sentHeader(h http.Header, name string) string {
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}

	return ""
}
