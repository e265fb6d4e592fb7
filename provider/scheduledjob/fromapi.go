package scheduledjob

import (
	"fmt"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// States of a job as the attribute state shows them.
const updateFailed = "UPDATE_FAILED"

// fromAPI writes into the state what the server says. What means the same as before keeps its spelling; what the server adds by
// itself (User-Agent, Authorization, a default Content-Type) is no part of the state, nor are the headers that hidden names.
func (m *model) fromAPI(name jobs.Name, job *schedulerpb.Job, hidden []string, diags *diag.Diagnostics) {
	m.ID = types.StringValue(name.String())
	m.Project, m.Region, m.Name = types.StringValue(name.Project), types.StringValue(name.Region), types.StringValue(name.Job)
	m.Description = keepNull(m.Description, job.GetDescription())
	m.Schedule = types.StringValue(job.GetSchedule())
	m.TimeZone = spelling.Of(spelling.Zone, job.GetTimeZone())
	m.deadlineFromAPI(job)
	m.stateFromAPI(job)
	if job.GetHttpTarget() == nil && job.GetAppEngineHttpTarget() == nil {
		diags.AddAttributeError(path.Root("http_target"), fmt.Sprintf("Job %q has neither an HTTP nor an App Engine target", name.Job),
			"Its target on the server is a Pub/Sub topic, whose messages carry no schedule time; google_cloud_scheduler_job manages it.")
		return
	}
	m.targetFromAPI(job, hidden, diags)
	m.retryFromAPI(job.GetRetryConfig(), diags)
}

// stateFromAPI writes state and paused. A job whose update failed is neither paused nor running by that alone.
func (m *model) stateFromAPI(job *schedulerpb.Job) {
	m.State = types.StringValue(job.GetState().String())
	if job.GetState() != schedulerpb.Job_UPDATE_FAILED || m.Paused.IsNull() {
		m.Paused = types.BoolValue(job.GetState() == schedulerpb.Job_PAUSED)
	}
}

// keepNull is a text that the server reports as empty when there is none.
func keepNull(prior types.String, live string) types.String {
	if live == "" && prior.ValueString() == "" {
		return prior
	}
	return types.StringValue(live)
}

func fromProto(d *durationpb.Duration) string { return seconds(d.AsDuration()) }
