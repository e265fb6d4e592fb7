package jobspec

import (
	"maps"
	"slices"
	"strings"
)

// The rules about accepted_risks itself.
const (
	ruleRiskUnknown       RuleID = "accepted-risk-unknown"
	ruleRiskNotAcceptable RuleID = "accepted-risk-not-acceptable"
	ruleRiskWithoutReason RuleID = "accepted-risk-without-reason"
	ruleRiskUnused        RuleID = "accepted-risk-unused"
)

func acceptanceRules() []Rule {
	return []Rule{
		{ID: ruleRiskUnknown, Title: "accepted_risks names a rule that does not exist"},
		{ID: ruleRiskNotAcceptable, Title: "accepted_risks names a rule that cannot be accepted"},
		{ID: ruleRiskWithoutReason, Title: "accepted_risks gives no reason"},
		{ID: ruleRiskUnused, Title: "accepted_risks names a rule that does not apply", Severity: Warning, Acceptable: true},
	}
}

// accepts says whether a finding of the rule is accepted. A reason that is not known yet counts as given.
func (s *subject) accepts(id RuleID) bool {
	reason, ok := s.job.AcceptedRisks.OrZero()[string(id)]
	if !ok {
		return false
	}
	text, known := reason.Get()
	return reason.IsUnknown() || known && strings.TrimSpace(text) != ""
}

// judgeAcceptance judges the entries of accepted_risks by what the rules found. A rule that is only waiting may apply yet.
func (r *Report) judgeAcceptance(s *subject, fired []RuleID) {
	risks := s.job.AcceptedRisks.OrZero()
	for _, name := range slices.Sorted(maps.Keys(risks)) {
		id := RuleID(name)
		rule, exists := LookupRule(id)
		var p problem
		var broken RuleID
		switch {
		case isPlanRule(id):
			broken, p = ruleRiskNotAcceptable, problem{
				what:   "check judges this rule, over the whole plan",
				detail: "It is not about this job alone, so a reason given here would not be looked at.",
				remedy: "Remove the entry, and suppress what the rule finds in .idempotent.yaml, with the same reason.",
			}
		case !exists:
			broken, p = ruleRiskUnknown, problem{
				what:   "there is no such rule",
				detail: "The rules that can be accepted are " + strings.Join(acceptable(), ", ") + ".",
				remedy: "Name one of them, or remove the entry.",
			}
		case !rule.Acceptable:
			broken, p = ruleRiskNotAcceptable, problem{
				what: "this rule cannot be accepted",
				detail: "What it refuses cannot work, whatever the reason. The rules that can be accepted are " +
					strings.Join(acceptable(), ", ") + ".",
				remedy: "Remove the entry and mend what the rule finds.",
			}
		case !s.accepts(id):
			broken, p = ruleRiskWithoutReason, problem{
				what:   "the reason is missing",
				detail: "Whoever reads this next must be able to judge whether the risk is still worth taking.",
				remedy: "Write the reason as the value of the entry.",
			}
		case id != ruleRiskUnused && !slices.Contains(fired, id) && !slices.Contains(r.Waiting, id):
			broken, p = ruleRiskUnused, problem{
				what:   "the rule finds nothing here",
				detail: "The entry would hide a finding that nobody has weighed, should one appear.",
				remedy: "Remove the entry.",
			}
		default:
			continue
		}
		p.path = Path{"accepted_risks", name}
		by, _ := LookupRule(broken)
		r.add(s, by, p)
	}
}

func isPlanRule(id RuleID) bool {
	return slices.ContainsFunc(PlanRules, func(r Rule) bool { return r.ID == id })
}

// acceptable lists the ids that accepted_risks may hold.
func acceptable() []string {
	var ids []string
	for _, rule := range Rules {
		if rule.Acceptable {
			ids = append(ids, string(rule.ID))
		}
	}
	slices.Sort(ids)
	return ids
}
