package cli

import (
	"fmt"
	"io"

	"github.com/idempotent-jobs/terraform-provider-idempotent/docs/rules"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

// explain prints the page of a rule, or the list of all rules.
func explain(w io.Writer, id string) error {
	if id == "list" {
		for _, rule := range planlint.Rules() {
			if _, err := fmt.Fprintf(w, "%-32s %-8s %s\n", rule.ID, rule.Level, rule.Title); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := planlint.LookupRule(jobspec.RuleID(id)); err != nil {
		return err
	}
	page, _ := rules.Page(id)
	_, err := io.WriteString(w, page)
	return err
}
