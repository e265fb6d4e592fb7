package handler

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// spec is the handler as the generator takes it. Unknown: something that decides about its files is not known yet; what is known can
// be judged all the same.
func (m model) spec(ctx context.Context, version string, diags *diag.Diagnostics) (spec generator.Spec, unknown bool) {
	jobs, unknownJobs := textsOf(m.Jobs)
	targets, unknown := m.forwards(ctx, diags)
	receives, guards, unknownParts := m.parts(ctx, diags)
	unknown = unknown || unknownJobs || unknownParts
	for _, text := range []types.String{m.Name, m.Kind, m.Module, m.Package, m.Project, m.Region, m.Store, m.RequestTimeout.StringValue} {
		unknown = unknown || text.IsUnknown()
	}
	spec = generator.Spec{
		Name: m.Name.ValueString(), Kind: m.Kind.ValueString(), Module: m.Module.ValueString(), Package: m.Package.ValueString(),
		Jobs: jobs, Project: m.Project.ValueString(), Region: m.Region.ValueString(), Store: m.Store.ValueString(), RuntimeVersion: version,
		Webhook: receives, API: guards,
	}
	spec.Policy.Timeout, _ = m.timeout()
	for name, target := range targets {
		if spec.Forward == nil {
			spec.Forward = map[string]generator.Forward{}
		}
		spec.Forward[name], _ = target.spec()
	}
	return spec, unknown
}

// timeout is the request timeout, 0 when none is given or known.
func (m model) timeout() (time.Duration, error) {
	if m.RequestTimeout.ValueString() == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(m.RequestTimeout.ValueString())
	if err != nil {
		return 0, fmt.Errorf("read request_timeout: %w", err)
	}
	return d, nil
}

// planFiles are the planned files. Nil: not known yet, or refused.
func (m model) planFiles(ctx context.Context, version string, diags *diag.Diagnostics) []generator.File {
	spec, unknown := m.spec(ctx, version, diags)
	if unknown {
		return nil
	}
	files, err := generator.Plan(spec)
	if err != nil {
		m.refuse(err, diags)
		return nil
	}
	return files
}

// refuse turns the generator's errors into diagnostics, each at its attribute.
func (m model) refuse(err error, diags *diag.Diagnostics) {
	for _, err := range flatten(err) {
		at := path.Empty()
		if spec, ok := errors.AsType[*generator.SpecError](err); ok {
			at = attributeOf(spec.Field)
		}
		if at.Equal(path.Empty()) {
			diags.AddError(fmt.Sprintf("handler %q cannot be generated", m.Name.ValueString()), err.Error()+".")
			continue
		}
		diags.AddAttributeError(at, fmt.Sprintf("%s of handler %q: the handler cannot be generated", explain.Words(at), m.Name.ValueString()),
			err.Error()+".")
	}
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, flatten(one)...)
		}
		return all
	}
	return []error{err}
}

var indexed = regexp.MustCompile(`^(\w+)\[(\d+)\]$`)

// attributeOf is the attribute of a field of the generator's spec. Empty: none alone.
func attributeOf(field string) path.Path {
	if found := indexed.FindStringSubmatch(field); found != nil {
		if index, err := strconv.Atoi(found[2]); err == nil {
			return path.Root(found[1]).AtListIndex(index)
		}
	}
	if field == "policy.timeout" {
		return path.Root("request_timeout")
	}
	if rest, ok := strings.CutPrefix(field, "forward."); ok {
		at := path.Root("forward")
		job, attribute, nested := strings.Cut(rest, ".")
		if !nested {
			return at.AtMapKey(job)
		}
		return at.AtMapKey(job).AtName(attribute)
	}
	for _, part := range []string{"webhook", "api"} {
		if rest, ok := strings.CutPrefix(field, part+"."); ok {
			return inPart(path.Root(part), rest)
		}
	}
	if slices.Contains([]string{"name", "kind", "module", "package", "jobs", "project", "region", "store", "forward", "webhook", "api"}, field) {
		return path.Root(field)
	}
	return path.Empty()
}

// inPart is the attribute of a field such as source, events[1] or codes.reused.
func inPart(at path.Path, field string) path.Path {
	if found := indexed.FindStringSubmatch(field); found != nil {
		if index, err := strconv.Atoi(found[2]); err == nil {
			return at.AtName(found[1]).AtListIndex(index)
		}
	}
	name, key, nested := strings.Cut(field, ".")
	if !nested {
		return at.AtName(name)
	}
	return at.AtName(name).AtMapKey(key)
}

// contents is the attribute files.
func contents(files []generator.File) types.Map {
	if files == nil {
		return types.MapUnknown(types.StringType)
	}
	texts := make(map[string]attr.Value, len(files))
	for _, file := range files {
		texts[file.Path] = types.StringValue(string(file.Content))
	}
	return types.MapValueMust(types.StringType, texts)
}

// write writes the files where they are asked for.
func (m model) write(ctx context.Context, version string, diags *diag.Diagnostics) {
	if m.OutputDir.ValueString() == "" {
		return
	}
	files := m.planFiles(ctx, version, diags)
	if diags.HasError() {
		return
	}
	if _, err := generator.Write(m.OutputDir.ValueString(), files, generator.Apply); err != nil {
		diags.AddAttributeError(path.Root("output_dir"), fmt.Sprintf("Unable to write handler %q", m.Name.ValueString()), err.Error()+".")
	}
}
