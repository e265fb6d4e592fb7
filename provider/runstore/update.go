package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Update mends what differs. A change of deletion_policy or timeouts alone asks for nothing.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, found := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if plan.asks(state) {
		live, found := r.ensure(ctx, plan)
		resp.Diagnostics.Append(found...)
		if resp.Diagnostics.HasError() {
			return
		}
		plan.fromAPI(live)
	}
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// asks says whether the plan wants settings that the state does not have.
func (m model) asks(state model) bool {
	return !m.TTLField.Equal(state.TTLField) || len(missing(texts(m.ExemptFields), texts(state.ExemptFields))) > 0
}
