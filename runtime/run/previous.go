package run

import (
	"strings"
	"time"
)

// Previous says how runs were named before a change of format, scope or forced policy: until then, a handler claims each run under
// that name too. It is the whole of the earlier naming: a zero field means the default, as in [Policy], not what holds now.
type Previous struct {
	// Job is the short id of the job whose runs had that name. Empty: those of every job that no other Previous names.
	Job string
	// Format, Scope and Forced are what they were. Forced runs under ForcedReject had no name.
	Format Format
	Scope  string
	Forced ForcedPolicy
	// Until is when no delivery of a run under that name can come any more. It is never zero.
	Until time.Time
}

// EncodePrevious writes what EnvPrevious holds, such as job=nightly-report;until=2027-01-31T00:00:00Z;format=sample: entries separated
// by commas, keys by semicolons, defaults left out.
func EncodePrevious(all []Previous) string {
	entries := make([]string, len(all))
	for i, p := range all {
		var b strings.Builder
		if p.Job != "" {
			b.WriteString("job=" + escape(p.Job) + ";")
		}
		b.WriteString("until=" + FormatTime(p.Until))
		naming := Policy{Format: p.Format, Scope: p.Scope, Forced: p.Forced}.Encode()
		b.WriteString(strings.TrimPrefix(naming, "v="+policyVersion))
		entries[i] = b.String()
	}
	return strings.Join(entries, ",")
}

// ParsePrevious reads what EncodePrevious wrote. Empty: none. The error is a [*PolicyError] that names the key.
func ParsePrevious(s string) ([]Previous, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var all []Previous
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(s, ",") {
		p, err := parsePrevious(entry)
		if err != nil {
			return nil, err
		}
		if seen[p.Job] {
			return nil, &PolicyError{Key: "job", Value: p.Job, Reason: "is there twice: a run has one previous name"}
		}
		seen[p.Job] = true
		all = append(all, p)
	}
	return all, nil
}

// parsePrevious reads one entry. What names the run is a policy of those keys alone.
func parsePrevious(entry string) (Previous, error) {
	pairs, err := splitPolicy("v=" + policyVersion + ";" + entry)
	if err != nil {
		return Previous{}, err
	}
	var p Previous
	var naming strings.Builder
	naming.WriteString("v=" + policyVersion)
	for _, pair := range pairs[1:] {
		switch pair.key {
		case "job":
			if err := CheckJob(pair.value); err != nil {
				return Previous{}, &PolicyError{Key: pair.key, Value: pair.value, Reason: "does not match " + jobAlphabet().allowed}
			}
			p.Job = pair.value
		case "until":
			if p.Until, err = time.Parse(time.RFC3339, pair.value); err != nil || p.Until.IsZero() {
				return Previous{}, &PolicyError{Key: pair.key, Value: pair.value, Reason: "is not a time such as 2027-01-31T00:00:00Z"}
			}
			p.Until = p.Until.UTC()
		case "format", "scope", "forced":
			naming.WriteString(";" + pair.key + "=" + pair.value)
		default:
			return Previous{}, &PolicyError{Key: pair.key, Reason: "is unknown: a previous name has job, until, format, scope and forced"}
		}
	}
	if p.Until.IsZero() {
		return Previous{}, &PolicyError{Key: "until", Reason: "is missing: give the time from which no run under the previous name is delivered"}
	}
	policy, err := ParsePolicy(naming.String())
	if err != nil {
		return Previous{}, err
	}
	p.Format, p.Scope, p.Forced = policy.Format, policy.Scope, policy.Forced
	return p, nil
}

// Names returns the identity that a run had before. False: it had none, as forced runs have under reject. Forced says whether the
// run is a forced one.
func (p Previous) Names(i Identity, forced bool) (Identity, bool) {
	if forced && p.policy() == ForcedReject {
		return Identity{}, false
	}
	i.Format, i.Scope, i.Forced = p.Format, p.Scope, forced && p.Separate()
	return i, true
}

// Separate reports whether forced runs had names of their own.
func (p Previous) Separate() bool { return p.policy() == ForcedSeparate }

func (p Previous) policy() ForcedPolicy {
	return Policy{Format: p.Format, Forced: p.Forced}.ForcedRuns()
}
