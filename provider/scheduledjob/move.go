package scheduledjob

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// incumbentType is the type that a moved block may name as its source.
const incumbentType = "google_cloud_scheduler_job"

// MoveState takes over the state of google_cloud_scheduler_job, of hashicorp/google and google-beta from any registry. The source is
// decoded as JSON and not by a schema of our own: the incumbent keeps adding attributes, and what is not known here does not matter.
func (r *Resource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: r.moveFromIncumbent}}
}

func (*Resource) moveFromIncumbent(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	if req.SourceTypeName != incumbentType || !isIncumbent(req.SourceProviderAddress) {
		return
	}
	var source incumbent
	if err := json.Unmarshal(req.SourceRawState.JSON, &source); err != nil {
		resp.Diagnostics.AddError("Unable to move a job from "+incumbentType,
			fmt.Sprintf("Its state cannot be read: %s.\n\nApply once with a current version of %s, so that it writes its state anew, and move the "+
				"job then.", err, req.SourceProviderAddress))
		return
	}
	if len(source.PubSubTarget) > 0 {
		resp.Diagnostics.AddError(fmt.Sprintf("Job %q cannot be moved: it publishes to a Pub/Sub topic", source.Name),
			"A message carries neither the job's name nor the schedule time, so a handler cannot tell a second delivery from another run; "+
				TypeName+" has HTTP and App Engine targets only.\n\nLeave the job with "+incumbentType+". If it is one instance of a for_each or "+
				"count, give the others a moved block each; `terraform-provider-idempotent migrate` prints them.")
		return
	}
	name, err := source.jobName()
	if err != nil {
		resp.Diagnostics.AddError("Unable to move a job from "+incumbentType, fmt.Sprintf("The id %s.", err))
		return
	}
	state, diags := source.model(ctx, name, resp)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, state)...)
	if resp.TargetIdentity != nil {
		resp.Diagnostics.Append(resp.TargetIdentity.Set(ctx, state.identity())...)
	}
}

// isIncumbent matches the namespace and the type of an address HOST/NAMESPACE/TYPE: each registry, and each mirror, is a host of its own.
// Our own address counts too: once Terraform has moved the first instance of a resource, it names the new provider as the source of
// the others.
func isIncumbent(address string) bool {
	_, name, _ := strings.Cut(address, "/")
	return slices.Contains([]string{"hashicorp/google", "hashicorp/google-beta", "idempotent-jobs/idempotent"}, name)
}

// model is the job as our own state holds it: what an import of the same job would read from the server, so that the plan after the
// move shows what really changes and nothing else.
func (s incumbent) model(ctx context.Context, name jobs.Name, resp *resource.MoveStateResponse) (model, diag.Diagnostics) {
	var state model
	var diags diag.Diagnostics
	// Setting one attribute gives the empty state its shape.
	diags.Append(resp.TargetState.SetAttribute(ctx, path.Root("name"), name.Job)...)
	diags.Append(resp.TargetState.Get(ctx, &state)...)
	if diags.HasError() {
		return state, diags
	}
	state.ID, state.Name = types.StringValue(name.String()), types.StringValue(name.Job)
	state.Project, state.Region = types.StringValue(name.Project), types.StringValue(name.Region)
	state.DeletionPolicy = types.StringValue(s.deletionPolicy())
	state.Timeouts.Object = s.timeouts(state.Timeouts.AttributeTypes(ctx))
	live, err := s.toAPI()
	if err != nil {
		diags.AddError(fmt.Sprintf("Unable to move job %q from %s", name.Job, incumbentType),
			fmt.Sprintf("Its state cannot be used: %s.\n\nRun `terraform apply -refresh-only` with %s, and move the job then.", err, incumbentType))
		return state, diags
	}
	state.assume(live, &diags)
	state.fromAPI(name, live, nil, &diags)
	if _, managed := state.managedCollection(); managed {
		// Nobody has asked the database yet, and without a refresh nobody will before the plan.
		state.setPolicy(ttl.Missing)
	}
	if live.GetAttemptDeadline() == nil && live.GetHttpTarget() != nil {
		state.AttemptDeadline = spelling.Of(spelling.Duration, "180s")
	}
	return state, diags
}

// timeouts carries over what both types can bound.
func (s incumbent) timeouts(fields map[string]attr.Type) types.Object {
	if s.Timeouts == nil {
		return types.ObjectNull(fields)
	}
	values := map[string]attr.Value{}
	for name := range fields {
		values[name] = types.StringPointerValue(s.Timeouts[name])
	}
	return types.ObjectValueMust(fields, values)
}
