package scheduledjob

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// handlerFiles plans the files of the handler block. Unknown: something they follow from is not known yet. Nil: there is no block.
func (m model) handlerFiles(ctx context.Context, version string, derived jobspec.Derived, diags *diag.Diagnostics) ([]generator.File, bool) {
	block, unknown := only[handlerSpec](ctx, m.Handler, diags)
	if block == nil {
		return nil, unknown
	}
	store, known := derived.Deduplication.Store.Get()
	policy, proved := derived.Policy.Get()
	if !known || !proved || slices.ContainsFunc([]attr.Value{m.Name, m.Project, m.Region, block.Kind, block.Module, block.Package}, attr.Value.IsUnknown) {
		return nil, true
	}
	files, err := generator.Plan(generator.Spec{
		Name:           m.Name.ValueString(),
		Kind:           block.Kind.ValueString(),
		Module:         block.Module.ValueString(),
		Package:        block.Package.ValueString(),
		Project:        m.Project.ValueString(),
		Region:         m.Region.ValueString(),
		Store:          store,
		Policy:         policy,
		RuntimeVersion: version,
	})
	if err != nil {
		diags.AddAttributeError(handlerPath(err), "handler of job \""+m.Name.ValueString()+"\" cannot be generated", err.Error()+".")
		return nil, true
	}
	return files, false
}

// handlerPath is the attribute that a generator's error is about.
func handlerPath(err error) path.Path {
	at := path.Root("handler").AtListIndex(0)
	var spec *generator.SpecError
	if errors.As(err, &spec) && slices.Contains([]string{"kind", "module", "package"}, spec.Field) {
		return at.AtName(spec.Field)
	}
	return at
}

// fillHandler writes handler_files.
func (m *model) fillHandler(ctx context.Context, version string, derived jobspec.Derived, diags *diag.Diagnostics) {
	files, unknown := m.handlerFiles(ctx, version, derived, diags)
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
func (r *Resource) writeHandler(ctx context.Context, plan, config model, diags *diag.Diagnostics) {
	block, _ := only[handlerSpec](ctx, plan.Handler, diags)
	if block == nil || block.OutputDir.ValueString() == "" {
		return
	}
	config.Project, config.Region = plan.Project, plan.Region
	files, _ := plan.handlerFiles(ctx, r.cloud.Version, jobspec.Derive(config.spec(ctx, r.now(), diags)), diags)
	if diags.HasError() {
		return
	}
	if _, err := generator.Write(block.OutputDir.ValueString(), files, generator.Apply); err != nil {
		diags.AddAttributeError(path.Root("handler").AtListIndex(0).AtName("output_dir"),
			"Unable to write the handler of job \""+plan.Name.ValueString()+"\"", err.Error()+".")
	}
}
