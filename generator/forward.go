package generator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
)

// Forward says what the runs of one job start, for kinds that forward. Fields that the kind has no use for must be left out.
type Forward struct {
	// Target is the resource to start: projects/PROJECT/locations/REGION/workflows/NAME, …/jobs/NAME or …/triggers/NAME.
	Target string
	// OnUnknown is hold or rerun: what becomes of a run when it cannot be found out whether it was started. Empty: hold.
	OnUnknown string
	// Argument is a JSON object for the execution of a workflow. Empty: {}.
	Argument string
	// Container, Args, Env, Tasks and Timeout override those of a Cloud Run job. Zero: the job's own.
	Container string
	Args      []string
	Env       map[string]string
	Tasks     int
	Timeout   time.Duration
	// Branch, Tag or Commit is what a trigger builds; none: its own. Substitutions are for the build.
	Branch, Tag, Commit string
	Substitutions       map[string]string
}

// client is the client that a forwarding kind links, and how it makes targets.
type client struct {
	// Package is below runtime/forward. Method makes a target of Type.
	Package, Method, Type string
	// Title is the product, Noun what is started of it.
	Title, Noun string
	// Roles are what the forwarder's service account needs.
	Roles []string
	// RunID is where what is started finds the run id.
	RunID string

	collection string
	fields     []string // of Forward, as specs spell them, that this client takes
}

// Import returns the import path of the client's package.
func (c client) Import() string { return LibraryModule + "/runtime/forward/" + c.Package }

// forwarded is one job of a forwarder as templates see it.
type forwarded struct {
	Job, OnUnknown string
	// Target is the resource that is started.
	Target string
	// Fields are the lines of the target's Go literal.
	Fields []string
}

// forwards judges what the jobs start, and names the jobs: those of Jobs, or, without any, those of Forward.
func forwards(spec Spec, k kind) ([]job, []forwarded, []*SpecError) {
	var errs []*SpecError
	names := slices.Sorted(maps.Keys(spec.Forward))
	if k.name == "" { // refused already
		return nil, nil, nil
	}
	if k.client == nil {
		if len(names) > 0 {
			errs = append(errs, &SpecError{Field: "forward", Reason: "kind " + k.name + " starts nothing: choose a kind that forwards, or leave it out"})
		}
		return nil, nil, errs
	}
	if len(names) == 0 {
		errs = append(errs, &SpecError{Field: "forward", Reason: "kind " + k.name + " needs it: say for each job what its runs start"})
	}
	for i, name := range spec.Jobs {
		switch {
		case slices.Contains(spec.Jobs[:i], name):
			errs = append(errs, &SpecError{Field: fmt.Sprintf("jobs[%d]", i), Value: name, Reason: "it is listed twice"})
		case len(names) > 0 && !slices.Contains(names, name):
			errs = append(errs, &SpecError{Field: fmt.Sprintf("jobs[%d]", i), Value: name, Reason: "forward does not say what its runs start"})
		}
	}
	var jobs []job
	var all []forwarded
	for _, name := range names {
		field := "forward." + name
		if reason := checkJobName(name); reason != "" {
			errs = append(errs, &SpecError{Field: field, Value: name, Reason: "the job's name: " + reason})
			continue
		}
		if len(spec.Jobs) > 0 && !slices.Contains(spec.Jobs, name) {
			errs = append(errs, &SpecError{Field: field, Reason: "jobs does not list this job"})
		}
		f := spec.Forward[name]
		errs = append(errs, k.client.check(f, field)...)
		jobs = append(jobs, job{Name: name, Method: methodName(name), File: "job"})
		all = append(all, forwarded{Job: name, Target: f.Target, OnUnknown: onUnknown(f), Fields: k.client.literal(f)})
	}
	return jobs, all, errs
}

func onUnknown(f Forward) string {
	if f.OnUnknown == string(forward.Rerun) {
		return "Rerun"
	}
	return "Hold"
}

// given are the fields of f that are set, as specs spell them.
func (f Forward) given() []string {
	var names []string
	for name, set := range map[string]bool{
		"argument": f.Argument != "", "container": f.Container != "", "args": len(f.Args) > 0, "env": len(f.Env) > 0, "tasks": f.Tasks != 0,
		"timeout": f.Timeout != 0, "branch": f.Branch != "", "tag": f.Tag != "", "commit": f.Commit != "", "substitutions": len(f.Substitutions) > 0,
	} {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c client) check(f Forward, at string) []*SpecError {
	var errs []*SpecError
	refuse := func(field string, err error) {
		if err != nil {
			errs = append(errs, &SpecError{Field: at + "." + field, Reason: err.Error()})
		}
	}
	_, _, err := forward.CheckName(c.collection, f.Target)
	refuse("target", err)
	if known := []string{"", string(forward.Hold), string(forward.Rerun)}; !slices.Contains(known, f.OnUnknown) {
		errs = append(errs, &SpecError{Field: at + ".on_unknown", Value: f.OnUnknown, Reason: "it must be hold or rerun"})
	}
	for _, name := range f.given() {
		if !slices.Contains(c.fields, name) {
			refuse(name, fmt.Errorf("a %s takes none: it takes %s", c.Noun, strings.Join(c.fields, ", ")))
			return errs
		}
	}
	_, err = forward.CheckArgument(f.Argument)
	refuse("argument", err)
	for _, name := range slices.Sorted(maps.Keys(f.Env)) {
		refuse("env", forward.CheckVariable(name))
	}
	refuse("tasks", forward.CheckTasks(f.Tasks))
	refuse("timeout", forward.CheckTaskTimeout(f.Timeout))
	refuse("branch", forward.CheckRevision(f.Branch, f.Tag, f.Commit))
	for _, name := range slices.Sorted(maps.Keys(f.Substitutions)) {
		refuse("substitutions", forward.CheckSubstitution(name))
	}
	return errs
}

// literal writes the fields of the Go literal that makes the target.
func (c client) literal(f Forward) []string {
	lines := []string{fmt.Sprintf("Name: %q,", f.Target)}
	text := func(field, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf("%s: %q,", field, value))
		}
	}
	texts := func(field string, values map[string]string) {
		if len(values) == 0 {
			return
		}
		lines = append(lines, field+": map[string]string{")
		for _, key := range slices.Sorted(maps.Keys(values)) {
			lines = append(lines, fmt.Sprintf("%q: %q,", key, values[key]))
		}
		lines = append(lines, "},")
	}
	text("Argument", f.Argument)
	text("Container", f.Container)
	if len(f.Args) > 0 {
		quoted := make([]string, len(f.Args))
		for i, arg := range f.Args {
			quoted[i] = fmt.Sprintf("%q", arg)
		}
		lines = append(lines, "Args: []string{"+strings.Join(quoted, ", ")+"},")
	}
	texts("Env", f.Env)
	if f.Tasks != 0 {
		lines = append(lines, fmt.Sprintf("Tasks: %d,", f.Tasks))
	}
	if f.Timeout != 0 {
		lines = append(lines, fmt.Sprintf("Timeout: %d, // %v", int64(f.Timeout), f.Timeout))
	}
	text("Branch", f.Branch)
	text("Tag", f.Tag)
	text("Commit", f.Commit)
	texts("Substitutions", f.Substitutions)
	return lines
}
