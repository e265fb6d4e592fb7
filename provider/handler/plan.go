package handler

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// ModifyPlan fills in everything: nothing of a handler has to be asked of anybody. What follows from something unknown is unknown;
// Terraform plans again during apply, when all is known.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		planDestroy(ctx, req, resp)
		return
	}
	var config, plan model
	before := types.StringNull()
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("project"), &before)...)
	}
	if resp.Diagnostics.HasError() || r.cloud == nil {
		return
	}
	plan.Project = r.cloud.Place("project", config.Project, before)
	if plan.Project.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("project"), fmt.Sprintf("project of handler %q is not set", plan.Name.ValueString()),
			"Neither the resource nor the provider block names a project. Set it in either of them.")
		return
	}
	resp.Diagnostics.Append(plan.complete(ctx, config, r.cloud.Version)...)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
}

// complete fills in what follows from the configuration.
func (m *model) complete(ctx context.Context, config model, version string) diag.Diagnostics {
	var diags diag.Diagnostics
	m.ID = m.Name
	if config.Store.IsNull() {
		m.Store = types.StringUnknown()
		if !m.Project.IsUnknown() && !m.Kind.IsUnknown() {
			m.Store = types.StringValue(generator.DefaultStore(m.Kind.ValueString(), m.Project.ValueString()))
		}
	}
	if config.Caller.IsNull() {
		m.Caller = types.StringUnknown()
		if !m.Kind.IsUnknown() {
			m.Caller = types.StringPointerValue(platformOf(m.Kind.ValueString()).callerOrNone())
		}
	}
	m.Audience = m.planAudience(config)
	earlier, unknown := m.earlier(ctx, &diags)
	m.Env = m.environment(earlier)
	if unknown {
		m.Env = types.MapUnknown(types.StringType)
	}
	m.Files = contents(m.planFiles(ctx, version, &diags))
	m.Contract = m.promise()
	m.RequiredRoles = m.roles(ctx, config, &diags)
	return diags
}

// earlier decodes the blocks previous. Unknown: it is not known yet which there are.
func (m model) earlier(ctx context.Context, diags *diag.Diagnostics) (blocks []previous, unknown bool) {
	if m.Previous.IsUnknown() {
		return nil, true
	}
	diags.Append(m.Previous.ElementsAs(ctx, &blocks, false)...)
	return blocks, false
}

// planDestroy says what stays.
func planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if folder := state.OutputDir.ValueString(); folder != "" {
		resp.Diagnostics.AddWarning("The handler's files stay in "+folder,
			"Destroying a handler leaves the generated files, since people write their own code beside them.")
	}
}
