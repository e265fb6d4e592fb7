package jobspec

import "time"

// Derived is what holds for a job once every default is filled in. A field is Known when everything it follows from is, Unknown
// when something is not, and Unset when there is no such value (an audience without an OIDC token). No field carries a query
// string, a header value of the user's, a body or a password.
type Derived struct {
	Mode            Value[string]
	AttemptDeadline Value[time.Duration] // D; for App Engine without one: the longest there is, 24 h 15 s
	Retry           EffectiveRetry
	Deduplication   EffectiveDeduplication
	Audience        Value[string]            // of the OIDC token
	Headers         map[string]Value[string] // the injected ones by canonical name
	Blocked         Value[time.Duration]     // H
	Horizon         Value[time.Duration]     // from a run's schedule time to the end of its last retry
}

// EffectiveRetry is retry_config with every default filled in.
type EffectiveRetry struct {
	Count        Value[int]
	MaxDuration  Value[time.Duration]
	MinBackoff   Value[time.Duration]
	MaxBackoff   Value[time.Duration]
	MaxDoublings Value[int]
}

// EffectiveDeduplication is the block deduplication with every default filled in.
type EffectiveDeduplication struct {
	Store          Value[string] // never with a password
	ManageTTL      Value[bool]
	RequestTimeout Value[time.Duration] // W
	Lease          Value[time.Duration] // L
	RenewLease     Value[bool]
	Retention      Value[time.Duration]
	ForcedRuns     Value[string]
	RunScope       Value[string] // "" : none
	RunIDFormat    Value[string]
	MaxAttempts    Value[int] // 0: no limit
	AtMostOnce     Value[bool]
	Wait           Value[bool]
}

// Attempt is one row of the timetable of a run.
type Attempt struct {
	Number     int           // 1: the first delivery
	Earliest   time.Duration // after the schedule time, when every attempt before it failed at once
	Latest     time.Duration // after the schedule time, when every attempt before it was held until the deadline
	LeaseEnd   time.Duration // after the schedule time: the latest end of a claim that this attempt made at Earliest
	AfterLease bool          // it comes after the lease of a first delivery that crashed
}
