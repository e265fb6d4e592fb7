package handler

import (
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// model is the resource as configuration, plan and state hold it.
type model struct {
	ID                  types.String   `tfsdk:"id"`
	Name                types.String   `tfsdk:"name"`
	Kind                types.String   `tfsdk:"kind"`
	Module              types.String   `tfsdk:"module"`
	Package             types.String   `tfsdk:"package"`
	Jobs                types.List     `tfsdk:"jobs"`
	Project             types.String   `tfsdk:"project"`
	Region              types.String   `tfsdk:"region"`
	Store               types.String   `tfsdk:"store"`
	ServiceAccountEmail types.String   `tfsdk:"service_account_email"`
	Caller              types.String   `tfsdk:"caller"`
	Callers             types.List     `tfsdk:"callers"`
	RequestTimeout      spelling.Value `tfsdk:"request_timeout"`
	Audience            types.String   `tfsdk:"audience"`
	OutputDir           types.String   `tfsdk:"output_dir"`
	Forward             types.Map      `tfsdk:"forward"`
	Webhook             types.Object   `tfsdk:"webhook"`
	API                 types.Object   `tfsdk:"api"`
	Previous            types.List     `tfsdk:"previous"`

	Env           types.Map    `tfsdk:"env"`
	Files         types.Map    `tfsdk:"files"`
	Contract      types.String `tfsdk:"contract"`
	RequiredRoles types.Map    `tfsdk:"required_roles"`
}

// previous is how runs were named before a change.
type previous struct {
	Job         types.String `tfsdk:"job"`
	Store       types.String `tfsdk:"store"`
	RunIDFormat types.String `tfsdk:"run_id_format"`
	RunScope    types.String `tfsdk:"run_scope"`
	ForcedRuns  types.String `tfsdk:"forced_runs"`
	Until       types.String `tfsdk:"until"`
}

// given says whether a text is there and known.
func given(v types.String) bool { return !v.IsNull() && !v.IsUnknown() }

// objectOptions decode an object of which every attribute may be null or unknown.
func objectOptions() basetypes.ObjectAsOptions { return basetypes.ObjectAsOptions{} }

// textsOf reads a list of strings. Unknown: the list, or one of its elements, is.
func textsOf(list types.List) (texts []string, unknown bool) {
	if list.IsUnknown() {
		return nil, true
	}
	for _, element := range list.Elements() {
		text, ok := element.(types.String)
		if !ok || text.IsUnknown() {
			unknown = true
			continue
		}
		texts = append(texts, text.ValueString())
	}
	return texts, unknown
}

// elementsOf is a list as strings each of which may be unknown.
func elementsOf(list types.List) []types.String {
	var texts []types.String
	for _, element := range list.Elements() {
		if text, ok := element.(types.String); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
