package jobspec

import (
	"fmt"
	"strconv"
	"strings"
)

// RuleID names a rule: kebab-case, English, never reused.
type RuleID string

// Severity is how bad a finding is. The zero Severity is Error.
type Severity int

// The severities.
const (
	Error Severity = iota
	Warning
	Note // told, never counted; no finding about a job alone is one
)

// String is "error", "warning" or "note".
func (s Severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// Finding is one violation of one rule.
type Finding struct {
	Rule     RuleID
	Severity Severity
	Path     Path
	Summary  string // one line; begins with the path in words and the job's name
	Detail   string // why it cannot work, in numbers
	Remedy   string // what mends it: the smallest setting where there is one
}

// Message is detail and remedy, as a diagnostic shows them below the summary, and the rule's id last.
func (f Finding) Message() string {
	return fmt.Sprintf("%s\n\n%s (rule %s)", f.Detail, f.Remedy, f.Rule)
}

// Path leads to an attribute: attribute names and map keys are strings, list indices are ints. The empty Path is the job itself.
type Path []any

// String is the path as Terraform writes it, retry_config.0.min_backoff_duration.
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, segment := range p {
		switch segment := segment.(type) {
		case int:
			parts[i] = strconv.Itoa(segment)
		default:
			parts[i] = fmt.Sprint(segment)
		}
	}
	return strings.Join(parts, ".")
}
