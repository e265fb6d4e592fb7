package handler

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
)

// Create writes the files where they are asked for.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

// Read leaves the state as it is: a handler is its configuration, and its files are people's as soon as they are written. The
// command generate --check finds what differs.
func (*Resource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update writes the files again where they are asked for; people's own are never touched.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

func (r *Resource) apply(ctx context.Context, planned tfsdk.Plan, state *tfsdk.State, diags *diag.Diagnostics) {
	var plan model
	diags.Append(planned.Get(ctx, &plan)...)
	if diags.HasError() {
		return
	}
	plan.write(ctx, r.cloud.Version, diags)
	if diags.HasError() {
		return
	}
	diags.Append(state.Set(ctx, plan)...)
}

// Delete forgets the handler. Its files stay; the plan said so.
func (*Resource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
