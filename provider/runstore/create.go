package runstore

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// defaultTimeout bounds a verb where the block timeouts does not. A database changes one field at a time, and a change of a
// collection that holds many claims takes its time.
const defaultTimeout = 20 * time.Minute

// Create brings the collection into the planned state. What is there already is taken over.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, found := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	live, found := r.ensure(ctx, plan)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.fromAPI(live)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// ensure makes what is missing, the exemptions first: once the policy is on its way, a database with many claims is busy for long. It
// can be repeated, so that nothing has to be taken back when it fails halfway.
func (r *Resource) ensure(ctx context.Context, plan model) (ttl.Settings, diag.Diagnostics) {
	var diags diag.Diagnostics
	at := plan.place()
	live, err := r.cloud.Policies.Inspect(ctx, at)
	if err != nil {
		diags.Append(explain.Error(policyOperation("read", at), err))
		return live, diags
	}
	if live.Field != "" && live.Field != ttl.Field {
		diags.Append(otherField(at, live.Field))
		return live, diags
	}
	if plan.IndexExemptions.ValueBool() {
		for _, field := range missing(exemptable(), live.Exempt) {
			if err := r.cloud.Policies.Exempt(ctx, at, field); err != nil {
				diags.Append(explain.Error(exemptionOperation("set", field, at), err))
				return live, diags
			}
		}
	}
	if live.Field == "" {
		if err := r.cloud.Policies.SetPolicy(ctx, at); err != nil {
			diags.Append(explain.Error(policyOperation("set", at), err))
			return live, diags
		}
	}
	if live, err = r.cloud.Policies.Inspect(ctx, at); err != nil {
		diags.Append(explain.Error(policyOperation("read", at), err))
	}
	return live, diags
}
