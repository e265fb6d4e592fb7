package scheduled

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	// defaultDeadline is Cloud Scheduler's own for HTTP targets.
	defaultDeadline = 180 * time.Second
	// defaultHorizon is on the safe side of every retry_config with a count whose retries are not cut by a duration: five retries of
	// thirty minutes with an hour between them.
	defaultHorizon = 24 * time.Hour
)

// terms are the rules that a delivery is served under: a policy with its defaults filled in.
type terms struct {
	run.Policy

	schedule unixcron.Schedule
	zone     *time.Location // nil: no schedule is known
}

// limits are what a policy is held against. Nothing is capped: what does not fit is refused.
type limits struct {
	requestTimeout time.Duration // zero: none is known
	caps           claim.Caps
}

// fill turns a policy into terms, or says which of its keys cannot be honoured.
func (l limits) fill(p run.Policy) (*terms, error) {
	t := &terms{Policy: p}
	t.Deadline = cmp.Or(p.Deadline, p.Timeout, defaultDeadline)
	t.Timeout = cmp.Or(p.Timeout, t.Deadline)
	if l.requestTimeout > 0 && t.Timeout > l.requestTimeout {
		key := "timeout"
		if p.Timeout == 0 {
			key = "deadline"
		}
		return nil, &run.PolicyError{
			Key: key, Value: t.Timeout.String(), Reason: fmt.Sprintf("is beyond the longest request that this handler allows, %v: "+
				"set the job's request_timeout to that, or raise the platform's limit and %s", l.requestTimeout, run.EnvRequestTimeout),
		}
	}
	if p.AtMostOnce && !l.caps.SurvivesFailover {
		return nil, &run.PolicyError{
			Key: "at_most_once", Value: "true",
			Reason: fmt.Sprintf("cannot be honoured by the store %s, which may lose claims when it fails over: use another store", l.caps.Store),
		}
	}
	t.Lease = cmp.Or(p.Lease, claim.DefaultLease(t.Deadline, t.Timeout, p.Renew))
	t.Horizon = cmp.Or(p.Horizon, defaultHorizon)
	t.Retention = cmp.Or(p.Retention, claim.DefaultRetention(t.Horizon, claim.Blocked(t.Lease, t.Timeout, p.Renew)))
	t.Forced = p.ForcedRuns()
	return t, t.readSchedule()
}

func (t *terms) readSchedule() error {
	if t.Schedule == "" {
		return nil
	}
	schedule, err := unixcron.Parse(t.Schedule)
	if err != nil {
		return &run.PolicyError{Key: "schedule", Value: t.Schedule, Reason: "cannot be read: " + err.Error()}
	}
	zone, err := unixcron.LoadLocation(t.TimeZone)
	if err != nil {
		return &run.PolicyError{Key: "tz", Value: t.TimeZone, Reason: "cannot be used: " + err.Error()}
	}
	t.schedule, t.zone = schedule, zone
	return nil
}

// previous returns the last time before at that the schedule fires. Zero: unknown.
func (t *terms) previous(at time.Time) time.Time {
	if t.zone == nil || at.IsZero() {
		return time.Time{}
	}
	return t.schedule.Prev(at, t.zone)
}

// termsCache remembers what policy headers mean. Only verified callers fill it.
type termsCache struct {
	mu    sync.RWMutex
	known map[string]*terms
}

// most bounds what is remembered; a handler serves few jobs, each with one policy.
const most = 1024

func (c *termsCache) read(header string, l limits) (*terms, error) {
	c.mu.RLock()
	t, found := c.known[header]
	c.mu.RUnlock()
	if found {
		return t, nil
	}
	p, err := run.ParsePolicy(header)
	if err != nil {
		return nil, err
	}
	t, err = l.fill(p)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= most {
		c.known = map[string]*terms{}
	}
	c.known[header] = t
	return t, nil
}
