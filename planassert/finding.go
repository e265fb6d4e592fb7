package planassert

import (
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

func finding(f planlint.Finding) Finding {
	return Finding{
		Rule: string(f.Rule), Level: f.Level.String(), Address: f.Address, Path: f.Path.String(), Summary: f.Summary, Detail: f.Detail,
		Remedy: f.Remedy,
	}
}

func ruleID(rule string) jobspec.RuleID { return jobspec.RuleID(rule) }

// known refuses the id of a rule that does not exist.
func known(rule string) error {
	_, err := planlint.LookupRule(ruleID(rule))
	return err
}

func list(findings []planlint.Finding) string {
	if len(findings) == 0 {
		return "none"
	}
	all := make([]string, len(findings))
	for i, f := range findings {
		all[i] = string(f.Rule) + " at " + f.Address
	}
	return strings.Join(all, ", ")
}
