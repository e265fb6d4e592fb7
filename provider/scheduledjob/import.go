package scheduledjob

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/identities"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// ImportState takes over a job by its full name, by project/region/name, region/name or name, or by identity. What the server knows
// is read next.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	settings := r.cloud.Settings
	var name jobs.Name
	var err error
	if req.ID != "" {
		name, err = jobs.ParseName(req.ID, settings.Project, settings.Region)
	} else {
		var given identity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &given)...)
		name, err = jobs.ParseName(given.Name.ValueString(),
			identities.Or(given.Project, settings.Project), identities.Or(given.Region, settings.Region))
	}
	if err != nil {
		resp.Diagnostics.AddError("Unable to import job", fmt.Sprintf("The id %s.", err))
	}
	if resp.Diagnostics.HasError() {
		return
	}
	for attribute, value := range map[string]string{
		"id": name.String(), "project": name.Project, "region": name.Region, "name": name.Job, "deletion_policy": deletionDelete,
	} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(attribute), types.StringValue(value))...)
	}
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity{
		Project: types.StringValue(name.Project), Region: types.StringValue(name.Region), Name: types.StringValue(name.Job),
	})...)
}

// assume gives an imported job the values that follow from a configuration which sets no more than the job itself holds. What the
// server says differently is then drift from that, as it is for any other job.
func (m *model) assume(live *schedulerpb.Job, diags *diag.Diagnostics) {
	m.targetFromAPI(live, nil, diags)
	if deadline := live.GetAttemptDeadline(); deadline != nil {
		m.AttemptDeadline = spelling.Of(spelling.Duration, fromProto(deadline))
	}
	spec := m.spec(time.Time{}, diags)
	derived := jobspec.Derive(spec)
	m.EffectiveRetryConfig = effectiveRetry(derived.Retry)
	m.EffectiveDeduplication = effectiveDeduplication(derived)
	m.RetrySchedule = retrySchedule(derived)
	m.HandlerFiles = types.MapValueMust(types.StringType, map[string]attr.Value{})
}
