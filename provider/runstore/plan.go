package runstore

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// The names that Firestore gives databases, and the ones of collections that handlers take.
var (
	databasePattern   = regexp.MustCompile(`^(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$`)
	collectionPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	reservedPattern   = regexp.MustCompile(`^__.*__$`)
)

// ValidateConfig refuses what is wrong whatever the provider block turns out to be.
func (*Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	refuse := func(attribute string, value types.String, reason, remedy string) {
		resp.Diagnostics.AddAttributeError(path.Root(attribute),
			fmt.Sprintf("%s of run store: %q %s", attribute, value.ValueString(), reason), remedy)
	}
	if v := config.Project; given(v) && run.CheckProject(v.ValueString()) != nil {
		refuse("project", v, "is not a project", "Set it to a project id, which matches [A-Za-z0-9:.-]{1,300}.")
	}
	if v := config.Database; given(v) && !databasePattern.MatchString(v.ValueString()) {
		refuse("database", v, "is not a database",
			"Set it to (default), or to 4 to 63 lower-case letters, digits and hyphens that begin with a letter and do not end with a hyphen.")
	}
	if v := config.Collection; given(v) && (!collectionPattern.MatchString(v.ValueString()) || reservedPattern.MatchString(v.ValueString())) {
		refuse("collection", v, "is not a collection", "Set it to 1 to 100 letters, digits, underscores, dots and hyphens that begin with a "+
			"letter, a digit or an underscore; Firestore keeps names between double underscores for itself.")
	}
	policies := []string{deletionAbandon, deletionDelete, deletionPrevent}
	if v := config.DeletionPolicy; given(v) && !slices.Contains(policies, v.ValueString()) {
		refuse("deletion_policy", v, "is not one of its values",
			"It says what destroying the resource does.\n\nSet it to ABANDON, DELETE or PREVENT.")
	}
}

func given(v types.String) bool { return !v.IsNull() && !v.IsUnknown() }

// ModifyPlan fills in what is known before apply: all but the state of a policy that has still to be set.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	var config, plan model
	var state *model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		state = &model{}
		resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	}
	if resp.Diagnostics.HasError() || r.cloud == nil {
		return
	}
	before := types.StringNull()
	if state != nil {
		before = state.Project
	}
	plan.Project = r.cloud.Place("project", config.Project, before)
	if plan.Project.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("project"), "project of run store is not set",
			"Neither the resource nor the provider block names a project. Set it in either of them.")
		return
	}
	moved := state != nil && !plan.identity().equal(state.identity())
	if moved && !plan.Project.Equal(state.Project) {
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("project"))
	}
	resp.Diagnostics.Append(plan.settle(state, moved)...)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
}

// settle plans the settings that the database is to have.
func (m *model) settle(state *model, moved bool) diag.Diagnostics {
	var diags diag.Diagnostics
	m.name()
	m.TTLField, m.TTLState = types.StringValue(ttl.Field), types.StringUnknown()
	switch {
	case m.IndexExemptions.IsUnknown():
		m.ExemptFields = types.ListUnknown(types.StringType)
	case m.IndexExemptions.ValueBool():
		m.ExemptFields = listOf(exemptable())
	default:
		m.ExemptFields = listOf(nil)
	}
	if state == nil || moved {
		return diags
	}
	switch field := state.TTLField.ValueString(); field {
	case ttl.Field:
		m.TTLState = state.TTLState
	case "":
	default:
		diags.Append(otherField(state.place(), field))
	}
	return diags
}

func (i identity) equal(other identity) bool {
	return i.Project.Equal(other.Project) && i.Database.Equal(other.Database) && i.Collection.Equal(other.Collection)
}

// planDestroy refuses what deletion_policy prevents, and says what stays.
func (*Resource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	at := state.place()
	switch state.DeletionPolicy.ValueString() {
	case deletionPrevent:
		resp.Diagnostics.AddAttributeError(path.Root("deletion_policy"),
			fmt.Sprintf("deletion_policy of run store %q prevents its destruction", at.String()),
			"Set deletion_policy to ABANDON or DELETE and apply that first.")
	case deletionDelete:
		resp.Diagnostics.AddWarning(fmt.Sprintf("Claims of %s will not expire any more", at),
			"Its deletion_policy is DELETE: the expiry policy is removed, the claims stay. Whatever still writes claims there lets the "+
				"collection grow.")
	default:
		resp.Diagnostics.AddWarning(fmt.Sprintf("The settings of %s stay", at),
			"Its deletion_policy is ABANDON: expiry policy and index exemptions are only forgotten here, and the claims go on expiring.")
	}
}

func texts(list types.List) []string {
	var all []string
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok {
			all = append(all, text.ValueString())
		}
	}
	return all
}
