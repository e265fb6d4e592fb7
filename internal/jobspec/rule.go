package jobspec

import "slices"

// Rule is what a finding is an instance of. Its id never changes its meaning and is never used again for another.
type Rule struct {
	ID    RuleID
	Title string // what is wrong, as a heading
	// Severity is that of its findings, before mode observe turns proofs into warnings.
	Severity Severity
	// Acceptable says whether accepted_risks may name the rule.
	Acceptable bool
	// Proof says whether the rule is about runs having one effect and none being lost, rather than about what can be written at
	// all. In mode observe the findings of proofs are warnings.
	Proof bool
}

// The tables are read only.
var (
	judgedRules = judged() // read for each job of a plan

	// Rules lists the rules that judge a job by itself, in the order in which findings come. It and [PlanRules] are the one place
	// that gives rules their ids.
	Rules = published()
)

// LookupRule is the rule of [Rules] with that id, and false when there is none.
func LookupRule(id RuleID) (Rule, bool) {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return Rules[i], true
}

func published() []Rule {
	var rules []Rule
	for _, r := range judgedRules {
		rules = append(rules, r.Rule)
	}
	return append(rules, acceptanceRules()...)
}

// judgedRule is a rule with its judgement.
type judgedRule struct {
	Rule

	judge func(*judge)
}

// judged lists the rules that judge a job by itself, by subject.
func judged() []judgedRule {
	return slices.Concat(
		identityRules(), scheduleRules(), targetRules(), headerRules(), tokenRules(),
		leaseRules(), retryRules(), deduplicationRules(), storeRules(),
	)
}

// The kinds of rules: what accepted_risks and mode observe do with them.
func limit(id RuleID, title string, f func(*judge)) judgedRule {
	return judgedRule{Rule{ID: id, Title: title}, f}
}

func acceptableLimit(id RuleID, title string, f func(*judge)) judgedRule {
	return judgedRule{Rule{ID: id, Title: title, Acceptable: true}, f}
}

func proof(id RuleID, title string, f func(*judge)) judgedRule {
	return judgedRule{Rule{ID: id, Title: title, Proof: true}, f}
}

func acceptableProof(id RuleID, title string, f func(*judge)) judgedRule {
	return judgedRule{Rule{ID: id, Title: title, Acceptable: true, Proof: true}, f}
}

func warning(id RuleID, title string, f func(*judge)) judgedRule {
	return judgedRule{Rule{ID: id, Title: title, Severity: Warning, Acceptable: true}, f}
}
