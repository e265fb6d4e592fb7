package generator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// forwardOf says for each job what a forwarder of that kind starts; nil for kinds that start nothing.
func forwardOf(kind string, jobs ...string) map[string]generator.Forward {
	const place = "projects/acme-prod/locations/europe-west1/"
	starts := map[string]generator.Forward{
		"forward_workflows": {Target: place + "workflows/report", Argument: `{"region": "eu"}`},
		"forward_run_job": {
			Target: place + "jobs/report", OnUnknown: "rerun", Container: "main", Args: []string{"--all", `a "b"`},
			Env: map[string]string{"MODE": "full", "DAY": "1"}, Tasks: 3, Timeout: 10 * time.Minute,
		},
		"forward_cloud_build": {Target: place + "triggers/report", Branch: "main", Substitutions: map[string]string{"_TARGET": "all"}},
	}
	start, ok := starts[kind]
	if !ok {
		return nil
	}
	all := map[string]generator.Forward{}
	for _, job := range jobs {
		all[job] = start
	}
	return all
}

func TestForwardsAreJudged(t *testing.T) {
	t.Parallel()
	const workflow = "projects/acme/locations/europe-west1/workflows/report"
	good := func() generator.Spec {
		return generator.Spec{Name: "all", Kind: "forward_workflows", Forward: map[string]generator.Forward{"a": {Target: workflow}}}
	}
	one := func(f generator.Forward) map[string]generator.Forward { return map[string]generator.Forward{"a": f} }
	for name, tt := range map[string]struct {
		change func(*generator.Spec)
		want   []string
	}{
		"good":             {func(*generator.Spec) {}, nil},
		"jobs listed too":  {func(s *generator.Spec) { s.Jobs = []string{"a"} }, nil},
		"nothing":          {func(s *generator.Spec) { s.Forward = nil }, []string{"forward: kind forward_workflows needs it: say for each job what its runs start"}},
		"another kind":     {func(s *generator.Spec) { s.Kind = "http" }, []string{"forward: kind http starts nothing: choose a kind that forwards, or leave it out"}},
		"a job without":    {func(s *generator.Spec) { s.Jobs = []string{"a", "b"} }, []string{`jobs[1] "b": forward does not say what its runs start`}},
		"a job not listed": {func(s *generator.Spec) { s.Jobs = []string{"b"} }, []string{`jobs[0] "b": forward does not say what its runs start`, "forward.a: jobs does not list this job"}},
		"no name of a job": {func(s *generator.Spec) { s.Forward["a b"] = s.Forward["a"] }, []string{`forward.a b "a b": the job's name: it must match [A-Za-z0-9_-]{1,500}`}},
		"a short target": {func(s *generator.Spec) { s.Forward = one(generator.Forward{Target: "report"}) }, []string{
			`forward.a.target: "report" is not the name it should be: write it like projects/PROJECT/locations/REGION/workflows/NAME`,
		}},
		"a target of another kind": {func(s *generator.Spec) { s.Kind = "forward_run_job" }, []string{
			`forward.a.target: "` + workflow + `" is not the name it should be: write it like projects/PROJECT/locations/REGION/jobs/NAME`,
		}},
		"on_unknown": {func(s *generator.Spec) { s.Forward = one(generator.Forward{Target: workflow, OnUnknown: "retry"}) }, []string{
			`forward.a.on_unknown "retry": it must be hold or rerun`,
		}},
		"a field of another kind": {func(s *generator.Spec) { s.Forward = one(generator.Forward{Target: workflow, Tasks: 2}) }, []string{
			"forward.a.tasks: a workflow takes none: it takes argument",
		}},
		"an argument": {func(s *generator.Spec) { s.Forward = one(generator.Forward{Target: workflow, Argument: `{"run": 1}`}) }, []string{
			"forward.a.argument: it has a field run, in which the execution gets its run: give it another name",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := good()
			tt.change(&spec)
			_, err := generator.Plan(spec)
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAFunctionIsNoProgram(t *testing.T) {
	t.Parallel()
	_, err := generator.Plan(generator.Spec{Name: "a", Kind: "function", Package: "main"})
	if err == nil || err.Error() != `package "main": kind function is built into a program of the platform's: give it another name` {
		t.Error(err)
	}
}
