package scheduledjob

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// ValidateConfig refuses what is wrong whatever the provider block and unknown values turn out to be. Warnings wait for the plan, so
// that nobody reads them twice.
func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := read(ctx, req.Config.Raw, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	r.validate(config, &resp.Diagnostics)
}

// validate judges a configuration by itself.
func (r *Resource) validate(config model, diags *diag.Diagnostics) {
	config.checkHandler(diags)
	config.checkDeletionPolicy(diags)
	config.checkHidden(diags)
	config.checkRouting(diags)
	if config.Project.IsNull() {
		config.Project = types.StringUnknown()
	}
	if config.Region.IsNull() {
		config.Region = types.StringUnknown()
	}
	spec := config.spec(r.now(), diags)
	diags.Append(report(jobspec.Check(spec), false)...)
}

// checkDeletionPolicy refuses a policy that does not exist.
func (m model) checkDeletionPolicy(diags *diag.Diagnostics) {
	policies := []string{deletionDelete, deletionAbandon, deletionPrevent}
	if m.DeletionPolicy.IsNull() || m.DeletionPolicy.IsUnknown() || slices.Contains(policies, m.DeletionPolicy.ValueString()) {
		return
	}
	diags.AddAttributeError(path.Root("deletion_policy"),
		fmt.Sprintf("deletion_policy of job %q: %q is not one of its values", m.Name.ValueString(), m.DeletionPolicy.ValueString()),
		"It says what destroying the resource does.\n\nSet it to DELETE, ABANDON or PREVENT.")
}

// ModifyPlan fills in everything that is known before apply, and judges it.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	if r.cloud == nil {
		return
	}
	config := read(ctx, req.Config.Raw, &resp.Diagnostics)
	plan := read(ctx, req.Plan.Raw, &resp.Diagnostics)
	var state *model
	if !req.State.Raw.IsNull() {
		before := read(ctx, req.State.Raw, &resp.Diagnostics)
		state = &before
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.RequiresReplace = append(resp.RequiresReplace, r.fill(ctx, config, &plan, state, req.Private, &resp.Diagnostics)...)
	resp.Plan.Raw = plan.raw(ctx, &resp.Diagnostics)
	if state != nil && (state.State.ValueString() == updateFailed || !resp.Plan.Raw.Equal(req.State.Raw)) {
		plan.State = types.StringUnknown()
		resp.Plan.Raw = plan.raw(ctx, &resp.Diagnostics)
	}
}

// fill writes into a plan what follows from the configuration and from the state before, nil for a new job. It returns the attributes
// whose change makes another job.
func (r *Resource) fill(ctx context.Context, config model, plan, state *model, private privateReader, diags *diag.Diagnostics) path.Paths {
	replace := r.planPlace(config, plan, state, diags)
	if diags.HasError() {
		return replace
	}
	plan.fillDefaults(config, state)
	diags.Append(plan.complete(config, r.now(), r.cloud.Version)...)
	plan.Paused = plannedPaused(ctx, private, config, *plan, state, diags)
	if state == nil {
		plan.State = types.StringUnknown()
		return replace
	}
	plan.State = state.State
	diags.Append(warnRenamed(config, *plan, *state, r.now())...)
	return replace
}

// fillDefaults fills in what the configuration leaves out and nothing else decides. A zone that the server spells its own way stays.
func (m *model) fillDefaults(config model, state *model) {
	if config.TimeZone.IsNull() {
		m.TimeZone = spelling.Of(spelling.Zone, defaultZone)
		if state != nil && spelling.Zone.Same(state.TimeZone.ValueString(), defaultZone) {
			m.TimeZone = state.TimeZone
		}
	}
	if config.DeletionPolicy.IsNull() {
		m.DeletionPolicy = types.StringValue(deletionDelete)
	}
}

// defaultZone is the zone of a job that names none.
const defaultZone = "Etc/UTC"

// planPlace takes project and region from the provider where the resource names none. Another place is another job.
func (r *Resource) planPlace(config model, plan, state *model, diags *diag.Diagnostics) path.Paths {
	var replace path.Paths
	place := func(name, fallback string, written types.String, planned *types.String, was func(*model) types.String) {
		switch {
		case !written.IsNull():
		case fallback != "":
			*planned = types.StringValue(fallback)
		case r.cloud.Unknown(name) && state != nil:
			*planned = was(state)
		case r.cloud.Unknown(name):
			*planned = types.StringUnknown()
		default:
			diags.AddAttributeError(path.Root(name), fmt.Sprintf("%s of job %q is not set", name, plan.Name.ValueString()),
				fmt.Sprintf("Neither the resource nor the provider block names a %s. Set it in either of them.", name))
			return
		}
		if state != nil && !planned.Equal(was(state)) {
			replace = append(replace, path.Root(name))
		}
	}
	place("project", r.cloud.Settings.Project, config.Project, &plan.Project, func(m *model) types.String { return m.Project })
	place("region", r.cloud.Settings.Region, config.Region, &plan.Region, func(m *model) types.String { return m.Region })
	return replace
}

// planDestroy refuses what deletion_policy prevents, and says what stays.
func (*Resource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	state := read(ctx, req.State.Raw, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if state.DeletionPolicy.ValueString() == deletionPrevent {
		resp.Diagnostics.AddAttributeError(path.Root("deletion_policy"),
			fmt.Sprintf("deletion_policy of job %q prevents its destruction", state.Name.ValueString()),
			"Set deletion_policy to DELETE or ABANDON and apply that first.")
		return
	}
	resp.Diagnostics.Append(whatStays(state)...)
}
