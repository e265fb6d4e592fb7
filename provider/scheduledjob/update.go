package scheduledjob

import (
	"context"
	"slices"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/protobuf/proto"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
)

// Update sends what differs between state and plan, and nothing when the server sees no difference. A job is paused before anything
// else changes and resumed after everything has, so that it never fires with one half of a change.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	config := read(ctx, req.Config.Raw, &resp.Diagnostics)
	plan := read(ctx, req.Plan.Raw, &resp.Diagnostics)
	state := read(ctx, req.State.Raw, &resp.Diagnostics)
	timeout, found := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	before, after := state.toAPI(&resp.Diagnostics), plan.toAPI(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	r.writeHandler(plan, config, &resp.Diagnostics)
	if !samePolicy(plan, state) {
		resp.Diagnostics.Append(r.ensurePolicy(ctx, plan)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	fields := changedFields(before, after)
	if state.hiddenVersion(&resp.Diagnostics) != plan.hiddenVersion(&resp.Diagnostics) {
		fields = appendNew(fields, targetField(after))
	}
	if state.State.ValueString() == updateFailed {
		fields = allFields(after)
	}
	hidden := config.hiddenHeaders(&resp.Diagnostics)
	addHeaders(after, hidden)
	live, verb, err := r.updateJob(ctx, plan, state, after, fields)
	if err != nil {
		resp.Diagnostics.Append(explain.Error(operation(verb, plan), err))
		return
	}
	if live != nil {
		plan.State = types.StringValue(live.GetState().String())
	} else {
		plan.State = state.State
	}
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
	resp.State.Raw = plan.raw(ctx, &resp.Diagnostics)
	rememberHidden(ctx, resp.Private, hidden, &resp.Diagnostics)
	rememberPaused(ctx, resp.Private, config.Paused.ValueBool(), &resp.Diagnostics)
}

// updateJob makes the requests that the change takes. Nil: it took none. The verb is the one that failed.
func (r *Resource) updateJob(ctx context.Context, plan, state model, job *schedulerpb.Job, fields []string) (live *schedulerpb.Job, verb string, err error) {
	name := plan.jobName()
	if plan.Paused.ValueBool() && !state.Paused.ValueBool() {
		if live, err = r.cloud.Jobs.Pause(ctx, name); err != nil {
			return nil, "pause", err
		}
	}
	if len(fields) > 0 {
		if live, err = r.cloud.Jobs.Update(ctx, name, job, fields...); err != nil {
			return nil, "update", err
		}
	}
	if !plan.Paused.ValueBool() && state.Paused.ValueBool() {
		if live, err = r.cloud.Jobs.Resume(ctx, name); err != nil {
			return nil, "resume", err
		}
	}
	return live, "", nil
}

// allFields are the fields of a job that this resource sets.
func allFields(job *schedulerpb.Job) []string {
	return []string{"description", "schedule", "time_zone", "attempt_deadline", "retry_config", targetField(job)}
}

// targetField is the field of the job's target. Setting it takes a target of the other kind away.
func targetField(job *schedulerpb.Job) string {
	if job.GetAppEngineHttpTarget() != nil {
		return "app_engine_http_target"
	}
	return "http_target"
}

func appendNew(fields []string, field string) []string {
	if slices.Contains(fields, field) {
		return fields
	}
	return append(fields, field)
}

// changedFields names the fields that differ. Schedule and time zone go together: the server has refused one without the other.
func changedFields(before, after *schedulerpb.Job) []string {
	var fields []string
	if before.GetDescription() != after.GetDescription() {
		fields = append(fields, "description")
	}
	if before.GetSchedule() != after.GetSchedule() || before.GetTimeZone() != after.GetTimeZone() {
		fields = append(fields, "schedule", "time_zone")
	}
	if !proto.Equal(before.GetAttemptDeadline(), after.GetAttemptDeadline()) {
		fields = append(fields, "attempt_deadline")
	}
	if !proto.Equal(before.GetRetryConfig(), after.GetRetryConfig()) {
		fields = append(fields, "retry_config")
	}
	if !proto.Equal(before.GetHttpTarget(), after.GetHttpTarget()) || !proto.Equal(before.GetAppEngineHttpTarget(), after.GetAppEngineHttpTarget()) {
		fields = append(fields, targetField(after))
	}
	return fields
}
