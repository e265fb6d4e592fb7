package generator

import (
	"errors"
	"go/token"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// checkNames judges the fields that stand for themselves; kind, store and jobs are judged where they are read.
func checkNames(spec Spec) []*SpecError {
	var errs []*SpecError
	refuse := func(field, value, reason string) {
		if reason != "" {
			errs = append(errs, &SpecError{Field: field, Value: value, Reason: reason})
		}
	}
	refuse("name", spec.Name, checkJobName(spec.Name))
	refuse("module", spec.Module, checkModule(spec.Module))
	refuse("package", spec.Package, checkPackage(spec.Package))
	if spec.Project != "" {
		refuse("project", spec.Project, allowed(run.CheckProject(spec.Project)))
	}
	if spec.Region != "" {
		refuse("region", spec.Region, allowed(run.CheckRegion(spec.Region)))
	}
	if v := spec.RuntimeVersion; v != "" && semver.Canonical(v) != v {
		refuse("runtime_version", v, "it must be a full version such as v1.2.3")
	}
	if _, err := run.ParsePolicy(spec.Policy.Encode()); err != nil {
		errs = append(errs, policyError(err))
	}
	return errs
}

func checkJobName(name string) string { return allowed(run.CheckJob(name)) }

// allowed turns the error of a name's check into a reason.
func allowed(err error) string {
	if e, ok := errors.AsType[*run.NameError](err); ok {
		return "it must match " + e.Allowed
	}
	return ""
}

func checkModule(path string) string {
	if path == "" {
		return ""
	}
	if err := module.CheckImportPath(path); err != nil {
		return "it is no path of a Go module: write one such as example.com/team/handler"
	}
	if path == LibraryModule || strings.HasPrefix(path, LibraryModule+"/") {
		return "it is the library's own path: name a module of yours"
	}
	return ""
}

func checkPackage(name string) string {
	switch {
	case name == "":
		return ""
	case !regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`).MatchString(name) || token.IsKeyword(name):
		return "it must be the name of a Go package: lower-case letters, digits and underscores, no keyword"
	case strings.HasSuffix(name, "_test"), name == "documentation":
		return "the go command ignores packages of that name: choose another"
	}
	return ""
}

func policyError(err error) *SpecError {
	e, ok := errors.AsType[*run.PolicyError](err)
	if !ok {
		return &SpecError{Field: "policy", Reason: err.Error()}
	}
	return &SpecError{Field: "policy." + e.Key, Value: e.Value, Reason: "it " + e.Reason}
}
