package spelling

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
)

// Keep retains the state's spelling when the configuration means the same, so that a respelling plans nothing.
func Keep(kind Kind) planmodifier.String { return keep{kind: kind} }

type keep struct{ kind Kind }

// Description says what the modifier does.
func (keep) Description(context.Context) string {
	return "Another spelling of the same value is not a change."
}

// MarkdownDescription is Description.
func (k keep) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

// PlanModifyString plans the state's text where the planned one means the same.
func (k keep) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.StateValue.IsUnknown() || req.PlanValue.IsNull() || req.PlanValue.IsUnknown() {
		return
	}
	if k.kind.Same(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
