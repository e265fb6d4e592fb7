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
		{ID: ruleRiskUnused, Title: "accepted_risks names a rule that does not apply", Severity: Warning},
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

// acceptanceFindings judges the entries of accepted_risks. fired and waiting say what the rules found.
func acceptanceFindings(s *subject, fired, waiting map[RuleID]bool) []Finding {
	rules := map[RuleID]Rule{}
	for _, rule := range published() {
		rules[rule.ID] = rule
	}
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(s.job.AcceptedRisks.OrZero())) {
		id := RuleID(name)
		add := func(rule RuleID, what, detail, remedy string) {
			findings = append(findings, s.finding(rule, rules[rule].Severity, problem{Path{"accepted_risks", name}, what, detail, remedy}))
		}
		rule, exists := rules[id]
		switch {
		case !exists:
			add(ruleRiskUnknown, "there is no such rule", "The rules that can be accepted are "+strings.Join(acceptable(), ", ")+".",
				"Name one of them, or remove the entry.")
		case !rule.Acceptable:
			add(ruleRiskNotAcceptable, "this rule cannot be accepted",
				"What it refuses cannot work, whatever the reason. The rules that can be accepted are "+strings.Join(acceptable(), ", ")+".",
				"Remove the entry and mend what the rule finds.")
		case !s.accepts(id):
			add(ruleRiskWithoutReason, "the reason is missing",
				"Whoever reads this next must be able to judge whether the risk is still worth taking.",
				"Write the reason as the value of the entry.")
		case !fired[id] && !waiting[id]:
			add(ruleRiskUnused, "the rule finds nothing here",
				"The entry would hide a finding that nobody has weighed, should one appear.", "Remove the entry.")
		}
	}
	return findings
}

// acceptable lists the ids that accepted_risks may hold.
func acceptable() []string {
	var ids []string
	for _, rule := range published() {
		if rule.Acceptable {
			ids = append(ids, string(rule.ID))
		}
	}
	slices.Sort(ids)
	return ids
}
