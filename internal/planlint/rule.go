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

// Rule is what a finding is an instance of. Ids are unique over jobspec and this package and are never used again.
type Rule struct {
	ID    jobspec.RuleID
	Title string
	Level Level // of its findings, unless settings say otherwise
}

// The ids of the rules that need more than one resource, or a change.
const (
	ruleDuration       jobspec.RuleID = "duration-invalid"
	ruleLeaseUnknown   jobspec.RuleID = "lease-unknown"
	rulePolicyHeader   jobspec.RuleID = "policy-header-mismatch"
	ruleDeadlineBeyond jobspec.RuleID = "deadline-after-request-timeout"
	ruleTargetOpen     jobspec.RuleID = "target-open"
	ruleSameJob        jobspec.RuleID = "same-job-elsewhere"
	ruleTTLMissing     jobspec.RuleID = "ttl-missing"
	ruleTTLField       jobspec.RuleID = "ttl-wrong-field"
	ruleIndex          jobspec.RuleID = "index-exemption-missing"
	ruleTTLDestroyed   jobspec.RuleID = "ttl-destroyed"
	ruleStoreDestroyed jobspec.RuleID = "store-destroyed"
	ruleJobMoved       jobspec.RuleID = "job-moved"
	ruleZoneChanged    jobspec.RuleID = "time-zone-changed"
	ruleResumed        jobspec.RuleID = "paused-resumed"
	ruleHandler        jobspec.RuleID = "handler-outdated"
	ruleUnused         jobspec.RuleID = "suppression-unused"
	ruleExpired        jobspec.RuleID = "suppression-expired"
)

// OwnRules lists the rules of this package, in the order in which findings of one resource come.
func OwnRules() []Rule {
	return []Rule{
		{ruleDuration, "A duration cannot be read", Error},
		{ruleLeaseUnknown, "No lease is known that retries could outlast", Note},
		{rulePolicyHeader, "The policy header does not say what the job does", Error},
		{ruleDeadlineBeyond, "The attempt deadline outlasts the target", Note},
		{ruleTargetOpen, "Anyone may call the target", Error},
		{ruleSameJob, "Two jobs give their runs one name", Error},
		{ruleTTLMissing, "The collection of claims has no TTL policy", Warning},
		{ruleTTLField, "The TTL policy is on another field than expire_at", Error},
		{ruleIndex, "A timestamp of the claims is indexed", Warning},
		{ruleTTLDestroyed, "The TTL policy of a collection in use is destroyed", Warning},
		{ruleStoreDestroyed, "The database that holds the claims is destroyed", Error},
		{ruleJobMoved, "Runs get new names while some may be in flight", Warning},
		{ruleZoneChanged, "Another time zone moves the runs", Warning},
		{ruleResumed, "A paused job is resumed", Warning},
		{ruleHandler, "The generated handler is older than its spec", Warning},
		{ruleUnused, "A suppression hides nothing", Warning},
		{ruleExpired, "A suppression has ended", Warning},
	}
}

// Rules lists every rule there is: those of jobspec first, then those of this package.
func Rules() []Rule {
	rules := make([]Rule, 0, len(jobspec.Rules)+len(OwnRules()))
	for _, r := range jobspec.Rules {
		rules = append(rules, Rule{r.ID, r.Title, levelOf(r.Severity)})
	}
	return append(rules, OwnRules()...)
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
	if s == jobspec.Warning {
		return Warning
	}
	return Error
}
