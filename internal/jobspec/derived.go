package jobspec

import (
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Derived is what holds for a job once every default is filled in. A field is Known when everything it follows from is, Unknown
// when something is not, and Unset when there is no such value (an audience without an OIDC token). No field carries a query
// string, a header value of the user's, a body or a password.
type Derived struct {
	Mode            Value[string]
	AttemptDeadline Value[time.Duration] // D; for App Engine without one the longest there is, 24 h 15 s
	Retry           EffectiveRetry
	Deduplication   EffectiveDeduplication
	Audience        Value[string]            // of the OIDC token
	Headers         map[string]Value[string] // the injected ones by canonical name; empty for a target that takes none
	Policy          Value[run.Policy]        // what the policy header says
	Blocked         Value[time.Duration]     // H
	Horizon         Value[time.Duration]     // from the first delivery of a run to the end of its last

	recovery Value[recovery]
}

// EffectiveRetry is retry_config with every default filled in.
type EffectiveRetry struct {
	Count        Value[int]
	MaxDuration  Value[time.Duration] // 0: no limit
	MinBackoff   Value[time.Duration]
	MaxBackoff   Value[time.Duration]
	MaxDoublings Value[int]
}

// EffectiveDeduplication is the block deduplication with every default filled in.
type EffectiveDeduplication struct {
	Store          Value[string] // without a password, should the declaration hold one
	ManageTTL      Value[bool]
	RequestTimeout Value[time.Duration] // W
	Lease          Value[time.Duration] // L
	RenewLease     Value[bool]
	Retention      Value[time.Duration]
	ForcedRuns     Value[string]
	RunScope       Value[string] // "": none
	RunIDFormat    Value[string]
	MaxAttempts    Value[int] // 0: no limit
	AtMostOnce     Value[bool]
	Wait           Value[bool]
}

// Derive fills in every default of a job. It accepts any job, also one that Check refuses, and never fails.
func Derive(j Job) Derived {
	d := Derived{
		Mode:            j.Deduplication.Mode.Or(ModeEnforce),
		AttemptDeadline: attemptDeadline(j),
		Deduplication:   deduplication(j),
	}
	dedup := &d.Deduplication
	dedup.RequestTimeout = dedup.RequestTimeout.OrValue(d.AttemptDeadline)
	dedup.Lease = dedup.Lease.OrValue(defaultLease(d.AttemptDeadline, dedup.RequestTimeout, dedup.RenewLease))
	d.Blocked = blocked(dedup.Lease, dedup.RequestTimeout, dedup.RenewLease)

	d.Retry = effectiveRetry(j.Retry, d)
	d.recovery = d.Retry.recovery(d)
	d.Horizon = convert(d.recovery, recovery.horizon)
	dedup.Retention = dedup.Retention.OrValue(combine(d.Horizon, d.Blocked, claim.DefaultRetention))

	d.Audience = audience(j, d.Mode)
	d.Policy = policy(j, d)
	d.Headers = injectedHeaders(j, d.Policy)
	return d
}

// The attempt deadlines of Cloud Scheduler.
const (
	httpDeadline         = 180 * time.Second
	minDeadline          = 15 * time.Second
	maxHTTPDeadline      = 30 * time.Minute
	maxAppEngineDeadline = 24*time.Hour + 15*time.Second
)

// attemptDeadline is D. Zero means the default to the API; the default of App Engine depends on how the service scales, which
// nothing here can see, so the longest there is takes its place.
func attemptDeadline(j Job) Value[time.Duration] {
	fallback := Unknown[time.Duration]()
	switch {
	case j.AppEngine.IsSet():
		if j.AppEngine.IsKnown() {
			fallback = Known(maxAppEngineDeadline)
		}
		if d, ok := j.AttemptDeadline.Get(); ok && d == 0 {
			return fallback
		}
	default:
		fallback = Known(httpDeadline)
	}
	return j.AttemptDeadline.OrValue(fallback)
}

func defaultLease(deadline, timeout Value[time.Duration], renew Value[bool]) Value[time.Duration] {
	switch renews, ok := renew.Get(); {
	case !ok:
		return Unknown[time.Duration]()
	case renews:
		return Known(claim.DefaultLease(0, 0, true))
	}
	return combine(deadline, timeout, func(d, w time.Duration) time.Duration { return claim.DefaultLease(d, w, false) })
}

func blocked(lease, timeout Value[time.Duration], renew Value[bool]) Value[time.Duration] {
	switch renews, ok := renew.Get(); {
	case !ok:
		return Unknown[time.Duration]()
	case !renews:
		return convert(lease, func(l time.Duration) time.Duration { return claim.Blocked(l, 0, false) })
	}
	return combine(lease, timeout, func(l, w time.Duration) time.Duration { return claim.Blocked(l, w, true) })
}

// convert applies f to a known value; what is not known stays what it is.
func convert[T, U any](v Value[T], f func(T) U) Value[U] {
	if t, ok := v.Get(); ok {
		return Known(f(t))
	}
	return Value[U]{state: v.state}
}

// combine applies f to two known values; it is unknown unless both are known.
func combine[T, U, V any](a Value[T], b Value[U], f func(T, U) V) Value[V] {
	t, first := a.Get()
	u, second := b.Get()
	if first && second {
		return Known(f(t, u))
	}
	return Unknown[V]()
}
