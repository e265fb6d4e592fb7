package generator_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// refusal is a value that a field of a spec refuses, and the whole message.
type refusal struct {
	field string
	spec  generator.Spec
	want  string
}

func refusals() []refusal {
	spec := func(set func(*generator.Spec)) generator.Spec {
		s := generator.Spec{Name: "nightly"}
		set(&s)
		return s
	}
	store := func(text string) generator.Spec { return spec(func(s *generator.Spec) { s.Store = text }) }
	jobs := func(names ...string) generator.Spec { return spec(func(s *generator.Spec) { s.Jobs = names }) }
	policy := func(p run.Policy) generator.Spec { return spec(func(s *generator.Spec) { s.Policy = p }) }
	return []refusal{
		{"Name", generator.Spec{}, `name: it must match [A-Za-z0-9_-]{1,500}`},
		{"Name", generator.Spec{Name: "nightly report"}, `name "nightly report": it must match [A-Za-z0-9_-]{1,500}`},
		{"Name", generator.Spec{Name: "../up"}, `name "../up": it must match [A-Za-z0-9_-]{1,500}`},
		{"Kind", spec(func(s *generator.Spec) { s.Kind = "lambda" }), `kind "lambda": it must be one of ` + strings.Join(generator.Kinds(), ", ")},
		{
			"Module", spec(func(s *generator.Spec) { s.Module = "a b" }),
			`module "a b": it is no path of a Go module: write one such as example.com/team/handler`,
		},
		{
			"Module", spec(func(s *generator.Spec) { s.Module = generator.LibraryModule + "/x" }),
			`module "github.com/idempotent-jobs/terraform-provider-idempotent/x": it is the library's own path: name a module of yours`,
		},
		{
			"Package", spec(func(s *generator.Spec) { s.Package = "func" }),
			`package "func": it must be the name of a Go package: lower-case letters, digits and underscores, no keyword`,
		},
		{
			"Package", spec(func(s *generator.Spec) { s.Package = "x\n\nfunc init()" }),
			`package "x\n\nfunc init()": it must be the name of a Go package: lower-case letters, digits and underscores, no keyword`,
		},
		{
			"Package", spec(func(s *generator.Spec) { s.Package = "jobs_test" }),
			`package "jobs_test": the go command ignores packages of that name: choose another`,
		},
		{"Jobs", jobs("ok", ""), `jobs[1]: it must match [A-Za-z0-9_-]{1,500}`},
		{"Jobs", jobs("a", "b", "a"), `jobs[2] "a": it is listed twice`},
		{"Jobs", jobs("--"), `jobs[0] "--": it holds no letter or digit to name a Go method by`},
		{"Jobs", jobs("a-b", "a_b"), `jobs[1] "a_b": it gets the same Go name as "a-b", AB: serve one of them by a handler of its own`},
		{"Project", spec(func(s *generator.Spec) { s.Project = "a/b" }), `project "a/b": it must match [A-Za-z0-9:.-]{1,300}`},
		{"Region", spec(func(s *generator.Spec) { s.Region = "Europe" }), `region "Europe": it must match [a-z0-9-]{1,63}`},
		{"Store", store("mysql://db"), `store: it must be a URL or the scheme alone of one of ` + schemes()},
		{
			"Store", store("firestore:"),
			`store: nothing follows firestore: write a URL such as firestore://my-project/(default)/scheduler_runs, or firestore alone`,
		},
		{"Store", store("sqlite:///a b.db"), `store: the URL holds a blank, a quote, a comma, a backslash, a dollar sign or a character outside ASCII: write it as %XX`},
		{
			"Store", store("postgres://me:hunter2@host/db"),
			`store: the URL holds a password or what may be one: take it out and give it at run time in PGPASSWORD`,
		},
		{
			"Store", store("sqlite:///x.db?Password=hunter2"),
			`store: the URL holds a password or what may be one: take it out`,
		},
		{
			"Store", store("sqlite://me:hunter%zz@host"),
			`store: the URL holds a password or what may be one: take it out`,
		},
		{
			"Forward", spec(func(s *generator.Spec) { s.Forward = map[string]generator.Forward{"a": {}} }),
			"forward: kind http starts nothing: choose a kind that forwards, or leave it out",
		},
		{
			"Webhook", spec(func(s *generator.Spec) { s.Webhook = &generator.Webhook{} }),
			"webhook: kind http receives none: choose kind webhook, or leave it out",
		},
		{
			"API", spec(func(s *generator.Spec) { s.API = &generator.API{} }),
			"api: kind http serves no API: choose kind api, or leave it out",
		},
		{"Policy", policy(run.Policy{Lease: -time.Second}), `policy.lease "-1s": it is not a positive duration such as 180s`},
		{"Policy", policy(run.Policy{Forced: "always"}), `policy.forced "always": it is none of separate, skip_next, reject`},
		{"RuntimeVersion", spec(func(s *generator.Spec) { s.RuntimeVersion = "latest" }), `runtime_version "latest": it must be a full version such as v1.2.3`},
	}
}

func schemes() string {
	var all []string
	for _, s := range generator.Stores() {
		all = append(all, s.Schemes()...)
	}
	return strings.Join(all, ", ")
}

func TestRefusedValuesAreNamedWithTheirMend(t *testing.T) {
	t.Parallel()
	for _, r := range refusals() {
		_, err := generator.Plan(r.spec)
		if err == nil {
			t.Errorf("%s: accepted, want: %s", r.field, r.want)
			continue
		}
		if err.Error() != r.want {
			t.Errorf("%s:\n got: %s\nwant: %s", r.field, err, r.want)
		}
		if _, ok := errors.AsType[*generator.SpecError](err); !ok {
			t.Errorf("%s: %T is no SpecError", r.field, err)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats a secret: %s", r.field, err)
		}
	}
}

func TestEveryFieldOfASpecHasARefusedValue(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, r := range refusals() {
		covered[r.field] = true
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[generator.Spec]()) {
		if !covered[f.Name] {
			t.Errorf("no refused value of %s is tested", f.Name)
		}
	}
}

func TestAllErrorsOfASpecAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := generator.Plan(generator.Spec{Name: "a b", Kind: "x", Store: "y", Jobs: []string{"", "/"}})
	if got := len(strings.Split(err.Error(), "\n")); got != 5 {
		t.Errorf("got %d errors, want 5:\n%s", got, err)
	}
}
