package handler

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Create writes the files where they are asked for.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.write(ctx, r.cloud.Version, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// Read leaves the state as it is: a handler is its configuration, and its files are people's as soon as they are written. The
// command generate --check finds what differs.
func (*Resource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update writes the files again where they are asked for; people's own are never touched.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.write(ctx, r.cloud.Version, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// Delete forgets the handler. Its files stay; the plan said so.
func (*Resource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
