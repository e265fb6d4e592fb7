package scheduledjob

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

// defaultTimeout bounds a verb where the block timeouts does not.
const defaultTimeout = 5 * time.Minute

// Create writes the handler's files, ensures the expiry policy and then makes the job, in the state asked for.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	config := read(ctx, req.Config.Raw, &resp.Diagnostics)
	plan := read(ctx, req.Plan.Raw, &resp.Diagnostics)
	timeout, found := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	job := plan.toAPI(&resp.Diagnostics)
	hidden := config.hiddenHeaders(&resp.Diagnostics)
	addHeaders(job, hidden)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	r.writeHandler(plan, config, &resp.Diagnostics)
	resp.Diagnostics.Append(r.ensurePolicy(ctx, plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	live, found := r.createJob(ctx, plan, job)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.State = types.StringValue(live.GetState().String())
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
	resp.State.Raw = plan.raw(ctx, &resp.Diagnostics)
	rememberHidden(ctx, resp.Private, hidden, &resp.Diagnostics)
	rememberPaused(ctx, resp.Private, config.Paused.ValueBool(), &resp.Diagnostics)
}

// createJob makes the job. One that is to be paused is made with a schedule that is a year away, paused, and then given its own
// schedule, so that there is no moment at which it could fire.
func (r *Resource) createJob(ctx context.Context, plan model, job *schedulerpb.Job) (*schedulerpb.Job, diag.Diagnostics) {
	var diags diag.Diagnostics
	name := plan.jobName()
	if !plan.Paused.ValueBool() {
		live, err := r.cloud.Jobs.Create(ctx, name, job)
		if err != nil {
			diags.Append(explain.Error(operation("create", plan), err))
		}
		return live, diags
	}

	schedule, zone := job.GetSchedule(), job.GetTimeZone()
	job.Schedule, job.TimeZone = farSchedule(r.now()), "Etc/UTC"
	live, err := r.cloud.Jobs.Create(ctx, name, job)
	if err != nil {
		diags.Append(explain.Error(operation("create", plan), err))
		return nil, diags
	}
	job.Schedule, job.TimeZone = schedule, zone
	paused, err := r.pauseAndSchedule(ctx, name, job)
	if err != nil {
		return live, r.withdraw(ctx, plan, err)
	}
	return paused, diags
}

// pauseAndSchedule pauses a job and then gives it its schedule, and makes sure that it is paused still.
func (r *Resource) pauseAndSchedule(ctx context.Context, name jobs.Name, job *schedulerpb.Job) (*schedulerpb.Job, error) {
	if _, err := r.cloud.Jobs.Pause(ctx, name); err != nil {
		return nil, err
	}
	live, err := r.cloud.Jobs.Update(ctx, name, job, "schedule", "time_zone")
	if err != nil || live.GetState() == schedulerpb.Job_PAUSED {
		return live, err
	}
	return r.cloud.Jobs.Pause(ctx, name)
}

// withdraw removes a job that was only half made. If that fails too the job is kept, with a warning: an error would taint it, and a
// tainted job is deleted and made again, while the next plan can mend this one in place.
func (r *Resource) withdraw(ctx context.Context, plan model, cause error) diag.Diagnostics {
	var diags diag.Diagnostics
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	failed := explain.Error(operation("pause", plan), cause)
	err := r.cloud.Jobs.Delete(ctx, plan.jobName())
	if err == nil {
		diags.Append(failed)
		return diags
	}
	diags.AddWarning(fmt.Sprintf("Job %q is only half made", plan.Name.ValueString()),
		fmt.Sprintf("%s: %s\n\nIt could not be removed again either (%s), so it is kept. It does not fire before its schedule is set; the "+
			"next plan shows what differs, and apply mends it.", failed.Summary(), failed.Detail(), err))
	return diags
}

// farSchedule is a schedule that next matches in about a year: two days before now.
func farSchedule(now time.Time) string {
	far := now.UTC().AddDate(0, 0, -2)
	if far.Month() == time.February && far.Day() == 29 {
		far = far.AddDate(0, 0, -1)
	}
	return fmt.Sprintf("0 0 %d %d *", far.Day(), int(far.Month()))
}
