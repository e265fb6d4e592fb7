package planlint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// Level is how much a finding counts. The zero Level is Off.
type Level int

// The levels, from what is not reported at all to what must be mended.
const (
	Off     Level = iota
	Note          // told, never counted as a failure
	Warning       // counts with --fail-on warning
	Error
)

// String is off, note, warning or error.
func (l Level) String() string { return [...]string{"off", "note", "warning", "error"}[l] }

// ParseLevel reads what String writes.
func ParseLevel(text string) (Level, error) {
	for l := Off; l <= Error; l++ {
		if l.String() == text {
			return l, nil
		}
	}
	return Off, fmt.Errorf("%q is no level: write error, warning, note or off", text)
}

// Rule is what a finding is an instance of.
type Rule struct {
	ID    jobspec.RuleID
	Title string
	Level Level // of its findings, unless settings say otherwise
}

// Rules lists every rule there is: those of [jobspec.Rules] first, then those of [jobspec.PlanRules].
func Rules() []Rule {
	rules := make([]Rule, 0, len(jobspec.Rules)+len(jobspec.PlanRules))
	for _, r := range slices.Concat(jobspec.Rules, jobspec.PlanRules) {
		rules = append(rules, Rule{r.ID, r.Title, levelOf(r.Severity)})
	}
	return rules
}

// LookupRule is the rule of that id. The error for an id that does not exist names near ones.
func LookupRule(id jobspec.RuleID) (Rule, error) {
	rules := Rules()
	for _, r := range rules {
		if r.ID == id {
			return r, nil
		}
	}
	var near []string
	for _, r := range rules {
		if levenshtein.Distance(string(id), string(r.ID), nil) <= 4 || len(id) > 3 && strings.Contains(string(r.ID), string(id)) {
			near = append(near, string(r.ID))
		}
	}
	if len(near) == 0 {
		return Rule{}, fmt.Errorf("there is no rule %q: check --explain list prints all of them", id)
	}
	slices.Sort(near)
	return Rule{}, fmt.Errorf("there is no rule %q: did you mean %s?", id, strings.Join(near, ", "))
}

func levelOf(s jobspec.Severity) Level {
	switch s {
	case jobspec.Warning:
		return Warning
	case jobspec.Note:
		return Note
	default:
		return Error
	}
}
