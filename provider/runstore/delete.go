package runstore

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// Delete takes the settings away if deletion_policy says so. Claims stay in any case.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, found := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() || state.DeletionPolicy.ValueString() != deletionDelete {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	at := state.place()
	live, err := r.cloud.Policies.Inspect(ctx, at)
	if status.Code(err) == codes.NotFound {
		return
	}
	if err != nil {
		resp.Diagnostics.Append(explain.Error(policyOperation("read", at), err))
		return
	}
	if live.Field == ttl.Field {
		if err := r.cloud.Policies.RemovePolicy(ctx, at); err != nil {
			resp.Diagnostics.Append(explain.Error(policyOperation("remove", at), err))
			return
		}
	}
	for _, field := range texts(state.ExemptFields) {
		if !slices.Contains(live.Exempt, field) {
			continue
		}
		if err := r.cloud.Policies.Include(ctx, at, field); err != nil {
			resp.Diagnostics.Append(explain.Error(exemptionOperation("remove", field, at), err))
			return
		}
	}
}
