package scheduledjob

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// managedCollection is the collection whose expiry policy this job ensures, if there is one.
func (m model) managedCollection() (ttl.Collection, bool) {
	fields := m.EffectiveDeduplication.Attributes()
	policy, _ := fields["ttl_policy"].(types.String)
	store, _ := fields["store"].(types.String)
	if policy.ValueString() == "" || policy.ValueString() == unmanaged {
		return ttl.Collection{}, false
	}
	return ttl.ParseStore(store.ValueString())
}

// samePolicy says whether the plan wants the policy that is there already, so that whoever may not set it can change all else.
func samePolicy(plan, state model) bool {
	wanted, there := plan.EffectiveDeduplication.Attributes(), state.EffectiveDeduplication.Attributes()
	return wanted["ttl_policy"].Equal(there["ttl_policy"]) && wanted["store"].Equal(there["store"])
}

// ensurePolicy sets the expiry policy before the job can make records that it is to remove.
func (r *Resource) ensurePolicy(ctx context.Context, plan model) diag.Diagnostics {
	var diags diag.Diagnostics
	collection, managed := plan.managedCollection()
	if !managed {
		return diags
	}
	if err := r.cloud.Policies.Ensure(ctx, collection); err != nil {
		diags.Append(explain.Error(policyOperation("set", collection), err))
	}
	return diags
}

// readPolicy writes into the state what the database says. An identity that may not ask plans all the same: that is a warning, equal
// for all jobs of a collection so that it is shown once.
func (r *Resource) readPolicy(ctx context.Context, state *model) diag.Diagnostics {
	var diags diag.Diagnostics
	collection, managed := state.managedCollection()
	if !managed {
		return diags
	}
	policy, err := r.cloud.Policies.Read(ctx, collection)
	if err != nil {
		diags.Append(explain.Warning(policyOperation("read", collection), err))
		return diags
	}
	if policy == ttl.NeedsRepair {
		diags.AddWarning(fmt.Sprintf("The expiry policy of %s needs repair", collection), fmt.Sprintf(
			"New records expire; ones that were there before the policy may stay. To have them removed too, set the policy again: "+
				"`gcloud firestore fields ttls update %s --collection-group=%s --database=%s --project=%s --enable-ttl`.",
			ttl.Field, collection.Group, collection.Database, collection.Project))
		policy = ttl.Ensured
	}
	state.setPolicy(policy)
	return diags
}

func (m *model) setPolicy(policy ttl.State) {
	fields := maps.Clone(m.EffectiveDeduplication.Attributes())
	fields["ttl_policy"] = types.StringValue(string(policy))
	m.EffectiveDeduplication = types.ObjectValueMust(effectiveDeduplicationTypes(), fields)
}

// whatStays says what destroying a job leaves behind.
func whatStays(state model) diag.Diagnostics {
	var diags diag.Diagnostics
	if state.DeletionPolicy.ValueString() == deletionAbandon {
		diags.AddWarning(fmt.Sprintf("Job %q stays and keeps firing", state.Name.ValueString()),
			"Its deletion_policy is ABANDON: it is only forgotten here.")
	}
	if collection, managed := state.managedCollection(); managed {
		diags.AddWarning(fmt.Sprintf("The expiry policy of %s stays", collection),
			"Destroying a job leaves the policy on field "+ttl.Field+": the records of its runs, and of other jobs that share the collection, "+
				"still have to expire.")
	}
	if block, _ := only[handlerSpec](state.Handler, &diags); block != nil && block.OutputDir.ValueString() != "" {
		diags.AddWarning("The handler's files stay in "+block.OutputDir.ValueString(),
			"Destroying a job leaves the generated files, since people write their own code beside them.")
	}
	return diags
}
