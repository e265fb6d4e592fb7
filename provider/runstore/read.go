package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// Read brings the state up to date with the database. Without the database there is nothing; an identity that may not see the
// settings plans all the same, with a warning.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, found := state.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The framework wants an identity also for what turns out to be gone.
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	at := state.place()
	live, err := r.cloud.Policies.Inspect(ctx, at)
	switch {
	case status.Code(err) == codes.NotFound:
		resp.State.RemoveResource(ctx)
		return
	case status.Code(err) == codes.PermissionDenied && !state.TTLField.IsNull():
		resp.Diagnostics.Append(explain.Warning(policyOperation("read", at), err))
		return
	case err != nil:
		resp.Diagnostics.Append(explain.Error(policyOperation("read", at), err))
		return
	}
	if live.Field == ttl.Field && live.Policy == "NEEDS_REPAIR" {
		resp.Diagnostics.Append(needsRepair(at))
	}
	state.fromAPI(live)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
