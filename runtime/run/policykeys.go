package run

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// policyKey is one key of the policy's encoding. encode returns "" for the default; decode returns what is wrong, or "".
type policyKey struct {
	name   string
	encode func(*Policy) string
	decode func(*Policy, string) string
}

// policyKeys lists the keys of version 1 in the order in which they are written.
func policyKeys() []policyKey {
	return []policyKey{
		durationKey("deadline", func(p *Policy) *time.Duration { return &p.Deadline }),
		durationKey("timeout", func(p *Policy) *time.Duration { return &p.Timeout }),
		durationKey("lease", func(p *Policy) *time.Duration { return &p.Lease }),
		boolKey("renew", func(p *Policy) *bool { return &p.Renew }),
		durationKey("retention", func(p *Policy) *time.Duration { return &p.Retention }),
		durationKey("horizon", func(p *Policy) *time.Duration { return &p.Horizon }),
		forcedKey(),
		scopeKey(),
		formatKey(),
		maxAttemptsKey(),
		boolKey("at_most_once", func(p *Policy) *bool { return &p.AtMostOnce }),
		boolKey("wait", func(p *Policy) *bool { return &p.Wait }),
		textKey("schedule", func(p *Policy) *string { return &p.Schedule }),
		textKey("tz", func(p *Policy) *string { return &p.TimeZone }),
	}
}

func findKey(name string) (policyKey, bool) {
	for _, k := range policyKeys() {
		if k.name == name {
			return k, true
		}
	}
	return policyKey{}, false
}

func durationKey(name string, field func(*Policy) *time.Duration) policyKey {
	return policyKey{
		name:   name,
		encode: func(p *Policy) string { return formatSeconds(*field(p)) },
		decode: func(p *Policy, s string) string {
			d, err := time.ParseDuration(s)
			if err != nil || d <= 0 {
				return "is not a positive duration such as 180s"
			}
			*field(p) = d
			return ""
		},
	}
}

func boolKey(name string, field func(*Policy) *bool) policyKey {
	return policyKey{
		name: name,
		encode: func(p *Policy) string {
			if *field(p) {
				return "true"
			}
			return ""
		},
		decode: func(p *Policy, s string) string {
			if s != "true" && s != "false" {
				return "is neither true nor false"
			}
			*field(p) = s == "true"
			return ""
		},
	}
}

func textKey(name string, field func(*Policy) *string) policyKey {
	return policyKey{
		name:   name,
		encode: func(p *Policy) string { return *field(p) },
		decode: func(p *Policy, s string) string {
			if s == "" {
				return "is empty: leave it out instead"
			}
			*field(p) = s
			return ""
		},
	}
}

func forcedKey() policyKey {
	return policyKey{
		name: "forced",
		encode: func(p *Policy) string {
			if p.ForcedRuns() == (Policy{Format: p.Format}).ForcedRuns() {
				return ""
			}
			return string(p.Forced)
		},
		decode: func(p *Policy, s string) string {
			switch f := ForcedPolicy(s); f {
			case ForcedSeparate, ForcedSkipNext, ForcedReject:
				p.Forced = f
				return ""
			default:
				return "is none of separate, skip_next, reject"
			}
		},
	}
}

func scopeKey() policyKey {
	return policyKey{
		name:   "scope",
		encode: func(p *Policy) string { return p.Scope },
		decode: func(p *Policy, s string) string {
			if err := CheckScope(s); err != nil {
				return "does not match " + scopeAlphabet().allowed
			}
			p.Scope = s
			return ""
		},
	}
}

func formatKey() policyKey {
	return policyKey{
		name: "format",
		encode: func(p *Policy) string {
			if p.Format == FormatV1 {
				return ""
			}
			return string(p.Format)
		},
		decode: func(p *Policy, s string) string {
			if f := Format(s); f == FormatV1 || f == FormatSample {
				p.Format = f
				return ""
			}
			return "is neither v1 nor sample"
		},
	}
}

func maxAttemptsKey() policyKey {
	return policyKey{
		name: "max_attempts",
		encode: func(p *Policy) string {
			if p.MaxAttempts == 0 {
				return ""
			}
			return strconv.Itoa(p.MaxAttempts)
		},
		decode: func(p *Policy, s string) string {
			n, err := strconv.ParseInt(s, 10, 32)
			if err != nil || n < 1 {
				return "is not a whole number of at least 1"
			}
			p.MaxAttempts = int(n)
			return ""
		},
	}
}

type policyPair struct{ key, value string }

// splitPolicy takes the header apart and judges its version before anything else, since another version may mean anything by the
// rest.
func splitPolicy(s string) ([]policyPair, error) {
	var pairs []policyPair
	seen := map[string]bool{}
	version := ""
	for part := range strings.SplitSeq(s, ";") {
		key, value, found := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || key == "" {
			return nil, &PolicyError{Key: strings.TrimSpace(part), Reason: "is not of the form key=value"}
		}
		if seen[key] {
			return nil, &PolicyError{Key: key, Reason: "is given twice"}
		}
		seen[key] = true
		if key == "v" {
			version = value
		}
		pairs = append(pairs, policyPair{key, value})
	}
	switch {
	case !seen["v"]:
		return nil, &PolicyError{Key: "v", Reason: "is missing: the policy has no version"}
	case version != policyVersion:
		return nil, &PolicyError{Key: "v", Value: version, Reason: "is unknown: this library reads v=1; update it to the provider's version"}
	}
	return pairs, nil
}

// escape writes what a header value or the encoding itself cannot hold as %XX.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		edge := c == ' ' && (i == 0 || i == len(s)-1)
		if c < ' ' || c > '~' || c == ';' || c == '%' || edge {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
