package scheduledjob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// Read brings the state up to date with the server. A job that is gone is planned anew. The handler's files are never read.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := read(ctx, req.State.Raw, &resp.Diagnostics)
	timeout, found := state.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// The framework wants an identity also for a job that turns out to be gone.
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	name := state.jobName()
	live, err := r.cloud.Jobs.Read(ctx, name)
	switch {
	case status.Code(err) == codes.NotFound:
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		resp.Diagnostics.Append(explain.Error(operation("read", state), err))
		return
	}
	hidden := hiddenNames(ctx, req.Private, &resp.Diagnostics)
	if imported := state.EffectiveRetryConfig.IsNull(); imported {
		state.assume(live, &resp.Diagnostics)
	}
	state.fromAPI(name, live, hidden, &resp.Diagnostics)
	resp.Diagnostics.Append(r.readPolicy(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.State.Raw = state.raw(ctx, &resp.Diagnostics)
	if !state.Paused.ValueBool() {
		// Somebody resumed it: whoever pauses it next, it was not us.
		rememberPaused(ctx, resp.Private, false, &resp.Diagnostics)
	}
}
