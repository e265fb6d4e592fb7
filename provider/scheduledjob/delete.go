package scheduledjob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// Delete removes the job unless deletion_policy says otherwise. The expiry policy and the handler's files stay; the plan said so.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state := read(ctx, req.State.Raw, &resp.Diagnostics)
	timeout, found := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() || state.DeletionPolicy.ValueString() == deletionAbandon {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := r.cloud.Jobs.Delete(ctx, state.jobName()); err != nil {
		resp.Diagnostics.Append(explain.Error(operation("delete", state), err))
	}
}
