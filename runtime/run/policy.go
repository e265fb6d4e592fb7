package run

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ForcedPolicy says what becomes of a run that somebody forces ahead of its time. The zero value means ForcedSeparate, or
// ForcedSkipNext in the sample's format.
type ForcedPolicy string

const (
	// ForcedSeparate gives the forced run a record of its own: the scheduled run still runs.
	ForcedSeparate ForcedPolicy = "separate"
	// ForcedSkipNext treats the forced run as the scheduled one, which is then a duplicate: Google's published behaviour.
	ForcedSkipNext ForcedPolicy = "skip_next"
	// ForcedReject does not execute forced runs.
	ForcedReject ForcedPolicy = "reject"
)

// Policy is what Terraform proved about a job, as a delivery carries it to the handler. A zero field is left out of the encoding
// and means the default of version 1, which for durations is what follows from the others.
type Policy struct {
	// Deadline is the attempt deadline of the job.
	Deadline time.Duration
	// Timeout is the longest that the target lets a request live.
	Timeout time.Duration
	// Lease is how long a claim holds without news.
	Lease time.Duration
	// Retention is how long a record is kept after its run is over.
	Retention time.Duration
	// Horizon is the longest time from the first delivery of a run to the end of its last.
	Horizon time.Duration
	// Renew keeps the lease alive while the work runs.
	Renew bool
	// Forced is the policy for forced runs.
	Forced ForcedPolicy
	// Scope replaces project, region and job in the names of runs.
	Scope string
	// Format is how runs are named.
	Format Format
	// MaxAttempts is the greatest number of attempts of one run; 0: no limit.
	MaxAttempts int
	// AtMostOnce never repeats a run whose outcome is open.
	AtMostOnce bool
	// Wait makes a delivery that meets a live lease wait for the outcome.
	Wait bool
	// Schedule and TimeZone are the job's schedule in unix-cron and its zone; they tell the work the previous run's time. An empty
	// zone is UTC.
	Schedule, TimeZone string
}

// policyVersion is the only version of the encoding that this library reads.
const policyVersion = "1"

// Encode writes the policy as HeaderPolicy carries it, such as v=1;deadline=180s;lease=210s. Keys come in a fixed order, and one at
// its default is left out, so that handlers built before the key existed keep working.
func (p Policy) Encode() string {
	var b strings.Builder
	b.WriteString("v=" + policyVersion)
	for _, k := range policyKeys() {
		if text := k.encode(&p); text != "" {
			b.WriteString(";" + k.name + "=" + escape(text))
		}
	}
	return b.String()
}

// ParsePolicy reads what Encode wrote. Nothing is guessed or skipped: an unknown version or key, a key given twice and a value that
// cannot be read are each a [*PolicyError].
func ParsePolicy(s string) (Policy, error) {
	pairs, err := splitPolicy(s)
	if err != nil {
		return Policy{}, err
	}
	var p Policy
	for _, pair := range pairs {
		if pair.key == "v" {
			continue
		}
		k, known := findKey(pair.key)
		if !known {
			return Policy{}, &PolicyError{Key: pair.key, Reason: "is unknown: update this handler's library to the provider's version"}
		}
		text, err := url.PathUnescape(pair.value)
		if err != nil {
			return Policy{}, &PolicyError{
				Key: pair.key, Value: pair.value, Reason: "holds a percent sign that is not followed by two hexadecimal digits",
			}
		}
		if reason := k.decode(&p, text); reason != "" {
			return Policy{}, &PolicyError{Key: pair.key, Value: text, Reason: reason}
		}
	}
	return p, p.checkFormat()
}

// ForcedRuns returns the policy for forced runs with its default filled in.
func (p Policy) ForcedRuns() ForcedPolicy {
	switch {
	case p.Format == FormatSample:
		return ForcedSkipNext
	case p.Forced == "":
		return ForcedSeparate
	default:
		return p.Forced
	}
}

func (p Policy) checkFormat() error {
	if p.Format != FormatSample {
		return nil
	}
	if p.Scope != "" {
		return &PolicyError{Key: "scope", Value: p.Scope, Reason: "cannot be combined with format=sample, whose names have no place for it"}
	}
	if p.Forced != "" && p.Forced != ForcedSkipNext {
		return &PolicyError{Key: "forced", Value: string(p.Forced), Reason: "cannot be combined with format=sample, which implies skip_next"}
	}
	return nil
}

// PolicyError says which key of a policy cannot be honoured.
type PolicyError struct {
	// Key is the key, or v for the version.
	Key string
	// Value is what was refused; empty: the key itself is.
	Value string
	// Reason says what is wrong and what mends it.
	Reason string
}

// Error names the key, its value and the reason.
func (e *PolicyError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("policy key %s %s", quote(e.Key), e.Reason)
	}
	return fmt.Sprintf("policy key %s with value %s %s", quote(e.Key), quote(e.Value), e.Reason)
}

func formatSeconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	whole, fraction := d/time.Second, d%time.Second
	if fraction == 0 {
		return strconv.FormatInt(int64(whole), 10) + "s"
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", whole, fraction.Abs()), "0") + "s"
}
