package scheduledjob

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// handlerFiles plans the files of the handler block. Unknown: something they follow from is not known yet. Nil: there is no block.
func (m model) handlerFiles(version string, derived jobspec.Derived, diags *diag.Diagnostics) (files []generator.File, unknown bool) {
	block, unknown := only[handlerSpec](m.Handler, diags)
	if block == nil {
		return nil, unknown
	}
	store, known := derived.Deduplication.Store.Get()
	policy, proved := derived.Policy.Get()
	if !known || !proved || m.Project.IsUnknown() || m.Region.IsUnknown() || m.handlerUnknown(block) {
		return nil, true
	}
	spec := m.generatorSpec(block)
	spec.Project, spec.Region, spec.Store = m.Project.ValueString(), m.Region.ValueString(), store
	spec.Policy, spec.RuntimeVersion = policy, version
	files, err := generator.Plan(spec)
	if err != nil {
		m.refuseHandler(err, diags)
		return nil, true
	}
	return files, false
}

// checkHandler refuses what cannot be generated wherever the job is and whatever is proved about it.
func (m model) checkHandler(diags *diag.Diagnostics) {
	block, _ := only[handlerSpec](m.Handler, diags)
	if block == nil {
		return
	}
	if !block.OutputDir.IsNull() && !block.OutputDir.IsUnknown() && block.OutputDir.ValueString() == "" {
		diags.AddAttributeError(path.Root("handler").AtListIndex(0).AtName("output_dir"),
			fmt.Sprintf("handler.output_dir of job %q: it is empty", m.Name.ValueString()),
			"The handler's files are written to this folder.\n\nName a folder, or leave it out to have the files in handler_files only.")
	}
	if m.handlerUnknown(block) {
		return
	}
	if kind := block.Kind.ValueString(); slices.Contains(generator.Kinds(), kind) && !generator.Schedules(kind) {
		m.refuseHandler(&generator.SpecError{
			Field: "kind", Value: kind, Reason: "it is called by others than jobs: describe it by an idempotent_handler of its own",
		}, diags)
		return
	}
	if _, err := generator.Plan(m.generatorSpec(block)); err != nil {
		m.refuseHandler(err, diags)
	}
}

func (m model) handlerUnknown(block *handlerSpec) bool {
	return m.Name.IsUnknown() || block.Kind.IsUnknown() || block.Module.IsUnknown() || block.Package.IsUnknown()
}

func (m model) generatorSpec(block *handlerSpec) generator.Spec {
	return generator.Spec{
		Name: m.Name.ValueString(), Kind: block.Kind.ValueString(), Module: block.Module.ValueString(), Package: block.Package.ValueString(),
	}
}

func (m model) refuseHandler(err error, diags *diag.Diagnostics) {
	at := handlerPath(err)
	diags.AddAttributeError(at, fmt.Sprintf("%s of job %q: the handler cannot be generated", explain.Words(at), m.Name.ValueString()), err.Error()+".")
}

// handlerPath is the attribute that a generator's error is about.
func handlerPath(err error) path.Path {
	at := path.Root("handler").AtListIndex(0)
	if spec, ok := errors.AsType[*generator.SpecError](err); ok && slices.Contains([]string{"kind", "module", "package"}, spec.Field) {
		return at.AtName(spec.Field)
	}
	return at
}

// fillHandler writes handler_files.
func (m *model) fillHandler(version string, derived jobspec.Derived, diags *diag.Diagnostics) {
	files, unknown := m.handlerFiles(version, derived, diags)
	if unknown {
		m.HandlerFiles = types.MapUnknown(types.StringType)
		return
	}
	contents := make(map[string]attr.Value, len(files))
	for _, file := range files {
		contents[file.Path] = types.StringValue(string(file.Content))
	}
	m.HandlerFiles = types.MapValueMust(types.StringType, contents)
}

// writeHandler writes the planned files where the block asks for it.
func (r *Resource) writeHandler(plan, config model, diags *diag.Diagnostics) {
	block, _ := only[handlerSpec](plan.Handler, diags)
	if block == nil || block.OutputDir.ValueString() == "" {
		return
	}
	config.Project, config.Region = plan.Project, plan.Region
	files, _ := plan.handlerFiles(r.cloud.Version, jobspec.Derive(config.spec(r.now(), diags)), diags)
	if diags.HasError() {
		return
	}
	if _, err := generator.Write(block.OutputDir.ValueString(), files, generator.Apply); err != nil {
		diags.AddAttributeError(path.Root("handler").AtListIndex(0).AtName("output_dir"),
			fmt.Sprintf("Unable to write the handler of job %q", plan.Name.ValueString()), err.Error()+".")
	}
}
