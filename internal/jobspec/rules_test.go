package jobspec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// transcript writes what a finding says, whole.
func transcript(c ruleCase, findings []jobspec.Finding) string {
	var b strings.Builder
	b.WriteString("== " + strings.TrimSpace(string(c.rule)+" "+c.name) + "\n")
	for _, f := range findings {
		b.WriteString(f.Severity.String() + " at " + f.Path.String() + "\n" + f.Summary + "\n" + f.Message() + "\n")
	}
	return b.String()
}

// The messages are compared whole with testdata/messages.txt. After a change that is meant, IDEMPOTENT_TEST_UPDATE=1 writes that
// file anew, for its difference to be read.
func TestEachRuleSaysWhatIsWrongAndWhatMendsIt(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, c := range cases() {
		got.WriteString(transcript(c, of(jobspec.Check(c.fire), c.rule)))
	}
	const golden = "testdata/messages.txt"
	if os.Getenv("IDEMPOTENT_TEST_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("messages differ from testdata/messages.txt (-want +got):\n%s", diff)
	}
}

func TestEachRuleHasAJobThatItRefusesAndOneThatItLetsPass(t *testing.T) {
	t.Parallel()
	seen := map[jobspec.RuleID]bool{}
	for _, c := range cases() {
		seen[c.rule] = true
		if len(of(jobspec.Check(c.fire), c.rule)) == 0 {
			t.Errorf("%s %s: the rule lets the job pass that it must refuse", c.rule, c.name)
		}
		if found := of(jobspec.Check(c.pass), c.rule); len(found) > 0 {
			t.Errorf("%s %s: the rule refuses the job that it must let pass: %s", c.rule, c.name, found[0].Summary)
		}
	}
	for _, rule := range jobspec.Rules {
		if !seen[rule.ID] {
			t.Errorf("rule %s has no case", rule.ID)
		}
	}
}

func TestAMessageBeginsWithTheAttributeAndTheJobAndEndsWithTheRule(t *testing.T) {
	t.Parallel()
	for _, c := range cases() {
		for _, f := range jobspec.Check(c.fire) {
			place, what, ok := strings.Cut(f.Summary, ": ")
			if !ok || what == "" || !strings.Contains(place, "job ") {
				t.Errorf("%s: %q does not begin with a place", f.Rule, f.Summary)
			}
			if first, ok := firstSegment(f.Path); ok && !strings.HasPrefix(place, first) {
				t.Errorf("%s: %q does not begin with %s", f.Rule, f.Summary, first)
			}
			if !strings.HasSuffix(f.Message(), "(rule "+string(f.Rule)+")") || f.Detail == "" || !strings.HasSuffix(f.Remedy, ".") {
				t.Errorf("%s: message %q", f.Rule, f.Message())
			}
			if strings.Contains(f.Summary+f.Message(), "hunter2") {
				t.Errorf("%s: a secret shows in %q", f.Rule, f.Summary+f.Message())
			}
		}
	}
}

func firstSegment(p jobspec.Path) (string, bool) {
	if len(p) == 0 {
		return "", false
	}
	first, ok := p[0].(string)
	return first, ok
}

func TestRuleIDsAreKebabCaseAndUnique(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	seen := map[jobspec.RuleID]bool{}
	for _, rule := range jobspec.Rules {
		if seen[rule.ID] || !shape.MatchString(string(rule.ID)) || rule.Title == "" {
			t.Errorf("rule %q with title %q", rule.ID, rule.Title)
		}
		seen[rule.ID] = true
		if found, ok := jobspec.LookupRule(rule.ID); !ok || found.ID != rule.ID {
			t.Errorf("LookupRule(%q) = %v, %v", rule.ID, found, ok)
		}
	}
	if _, ok := jobspec.LookupRule("no-such-rule"); ok {
		t.Error("a rule that does not exist was found")
	}
}

func TestAJobThatKeepsEveryRuleHasNoFindings(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]jobspec.Job{"http": nightly(), "app engine": appEngine()} {
		report := jobspec.Evaluate(j)
		if len(report.Findings)+len(report.Accepted)+len(report.Waiting) > 0 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}
