package planlint_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/idempotent-jobs/terraform-provider-idempotent/docs/rules"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

var update = flag.Bool("update", false, "write the findings into the corpus; review them")

// now is when the corpus is judged.
var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const providers = `
provider "google" {
  project = "acme-prod"
  region  = "europe-west1"
}

provider "idempotent" {
  project = "acme-prod"
  region  = "europe-west1"
}
`

// entry is one configuration of the corpus: the configuration, what it was before, settings, what is found, and which rules it
// comes near to without violating them.
type entry struct {
	name     string
	archive  *txtar.Archive
	after    plantest.Files
	before   plantest.Files
	settings string
	want     string
	near     []string // rule and address
}

func corpus(t testing.TB) []entry {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := entry{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: archive, after: plantest.Files{}, before: plantest.Files{}}
		for _, f := range archive.Files {
			content := string(f.Data)
			before, isBefore := strings.CutPrefix(f.Name, "before/")
			switch {
			case f.Name == "want":
				e.want = content
			case f.Name == "near":
				e.near = strings.Split(strings.TrimSpace(content), "\n")
			case f.Name == planlint.SettingsFile:
				e.settings = content
			case isBefore:
				e.before[before] = content
			default:
				e.after[f.Name] = content
			}
		}
		for _, files := range []plantest.Files{e.after, e.before} {
			if len(files) > 0 && files["providers.tf"] == "" {
				files["providers.tf"] = providers
			}
		}
		all = append(all, e)
	}
	return all
}

func (e entry) plan(t testing.TB) []byte {
	t.Helper()
	plan, err := plantest.Plan(e.before, e.after)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	return plan
}

func (e entry) check(t testing.TB, plan []byte) planlint.Result {
	t.Helper()
	document, err := planlint.Read(bytes.NewReader(plan))
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	options := planlint.Options{Now: now}
	if e.settings != "" {
		if options.Settings, err = planlint.ParseSettings(planlint.SettingsFile, []byte(e.settings)); err != nil {
			t.Fatal(err)
		}
	}
	return planlint.Check(document, options)
}

// lines is a result as the corpus writes it.
func lines(r planlint.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%-7s %s %s %s", f.Level, f.Rule, f.Address, f.Path)))
	}
	for _, f := range r.Suppressed {
		fmt.Fprintf(&b, "hidden  %s %s (%s)\n", f.Rule, f.Address, f.Reason)
	}
	for _, w := range r.Waiting {
		for _, rule := range w.Rules {
			fmt.Fprintf(&b, "waiting %s %s\n", rule, w.Address)
		}
	}
	return b.String()
}

func TestEachConfigurationHasExactlyTheExpectedFindings(t *testing.T) {
	t.Parallel()
	all := corpus(t)
	if len(all) < 40 {
		t.Errorf("the corpus has %d configurations, at least 40 are promised", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			result := e.check(t, e.plan(t))
			got := lines(result)
			if *update {
				e.write(t, got)
			} else if diff := cmp.Diff(e.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, near := range e.near {
				if strings.Contains(got, " "+near+"\n") || strings.Contains(got, " "+near+" ") {
					t.Errorf("near miss %q is none: \n%s", near, got)
				}
			}
			for _, f := range slices.Concat(result.Findings, result.Suppressed) {
				if f.Summary == "" || f.Detail == "" || f.Remedy == "" {
					t.Errorf("%s at %s says too little: %+v", f.Rule, f.Address, f)
				}
			}
		})
	}
}

func (e entry) write(t *testing.T, want string) {
	t.Helper()
	i := slices.IndexFunc(e.archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		e.archive.Files = append(e.archive.Files, txtar.File{Name: "want"})
		i = len(e.archive.Files) - 1
	}
	e.archive.Files[i].Data = []byte(want)
	if err := os.WriteFile("testdata/corpus/"+e.name+".txtar", txtar.Format(e.archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Rules that judge files beside the plan have their cases in tests of their own.
var judgedElsewhere = map[jobspec.RuleID]string{
	"handler-outdated": "TestHandlerOlderThanItsPlanIsFound",
}

func TestEveryRuleFiresSomewhereAndHasANearMissAndAPage(t *testing.T) {
	t.Parallel()
	fires, near := map[string]bool{}, map[string]bool{}
	for _, e := range corpus(t) {
		for line := range strings.Lines(e.want) {
			fields := strings.Fields(line)
			if fields[0] != "waiting" {
				fires[fields[1]] = true
			}
		}
		for _, line := range e.near {
			near[strings.Fields(line)[0]] = true
		}
	}
	known := map[string]bool{}
	for _, rule := range planlint.Rules() {
		id := string(rule.ID)
		if known[id] {
			t.Errorf("rule %s is there twice", id)
		}
		known[id] = true
		if judgedElsewhere[rule.ID] == "" && !fires[id] {
			t.Errorf("rule %s fires in no configuration of the corpus", id)
		}
		if judgedElsewhere[rule.ID] == "" && !near[id] {
			t.Errorf("rule %s has no near miss in the corpus", id)
		}
		page, ok := rules.Page(id)
		if !ok {
			t.Errorf("rule %s has no page docs/rules/%s.md", id, id)
			continue
		}
		for _, part := range []string{"# " + id + "\n", "\n**" + rule.Title + ".**", "\n## Why\n", "\n## Example\n", "\n## Mend\n"} {
			if !strings.Contains(page, part) {
				t.Errorf("page of %s lacks %q", id, part)
			}
		}
	}
	for _, id := range rules.IDs() {
		if !known[id] {
			t.Errorf("docs/rules/%s.md is the page of no rule", id)
		}
	}
	for id := range near {
		if !known[id] {
			t.Errorf("near miss of rule %s, which does not exist", id)
		}
	}
}
