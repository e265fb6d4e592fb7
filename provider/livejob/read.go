package livejob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// model is the data source as configuration and state hold it.
type model struct {
	Name              types.String `tfsdk:"name"`
	Project           types.String `tfsdk:"project"`
	Region            types.String `tfsdk:"region"`
	ID                types.String `tfsdk:"id"`
	Description       types.String `tfsdk:"description"`
	Schedule          types.String `tfsdk:"schedule"`
	TimeZone          types.String `tfsdk:"time_zone"`
	AttemptDeadline   types.String `tfsdk:"attempt_deadline"`
	State             types.String `tfsdk:"state"`
	NextTime          types.String `tfsdk:"next_time"`
	LastAttemptTime   types.String `tfsdk:"last_attempt_time"`
	LastAttemptStatus types.Object `tfsdk:"last_attempt_status"`
	UserUpdateTime    types.String `tfsdk:"user_update_time"`
}

// ValidateConfig refuses names that no job can have.
func (*DataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	check := func(attribute string, value types.String, err func(string) error) {
		if bad, ok := errors.AsType[*run.NameError](err(value.ValueString())); ok && !value.IsNull() && !value.IsUnknown() {
			resp.Diagnostics.AddAttributeError(path.Root(attribute),
				fmt.Sprintf("%s of the job to read: %q cannot be one", attribute, value.ValueString()), "It must match "+bad.Allowed+".")
		}
	}
	check("name", config.Name, run.CheckJob)
	check("project", config.Project, run.CheckProject)
	check("region", config.Region, run.CheckRegion)
}

// Read asks Cloud Scheduler.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	config.Project = d.place("project", config.Project, &resp.Diagnostics)
	config.Region = d.place("region", config.Region, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	name := jobs.Name{Project: config.Project.ValueString(), Region: config.Region.ValueString(), Job: config.Name.ValueString()}
	live, err := d.cloud.Jobs.Get(ctx, name)
	if err != nil {
		resp.Diagnostics.Append(explain.Error(operation(name), err))
		return
	}
	config.fromAPI(name, live)
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}

func (d *DataSource) place(attribute string, written types.String, diags *diag.Diagnostics) types.String {
	value := d.cloud.Place(attribute, written, types.StringNull())
	if value.ValueString() == "" {
		diags.AddAttributeError(path.Root(attribute), attribute+" of the job to read is not set",
			fmt.Sprintf("Neither the data source nor the provider block names a %s. Set it in either of them.", attribute))
	}
	return value
}

func operation(name jobs.Name) explain.Operation {
	return explain.Operation{
		Verb: "read", Noun: "job", Name: name.Job,
		Remedies: map[codes.Code]string{
			codes.NotFound: fmt.Sprintf("There is no job %s. List those of the region: `gcloud scheduler jobs list --project %s --location %s`. If "+
				"this configuration is to make it, give the data source a depends_on: all of the job's names are known before it is there, so "+
				"that Terraform sees no reason to wait.", name, name.Project, name.Region),
			codes.PermissionDenied: fmt.Sprintf("Grant the caller roles/cloudscheduler.viewer on project %s, and check that Cloud Scheduler is "+
				"offered in region %s (`gcloud scheduler locations list`).", name.Project, name.Region),
		},
	}
}

// fromAPI writes into the state what the server says.
func (m *model) fromAPI(name jobs.Name, job *schedulerpb.Job) {
	m.ID = types.StringValue(name.String())
	m.Description, m.Schedule = types.StringValue(job.GetDescription()), types.StringValue(job.GetSchedule())
	m.TimeZone, m.State = types.StringValue(job.GetTimeZone()), types.StringValue(job.GetState().String())
	m.AttemptDeadline = span(job.GetAttemptDeadline())
	m.NextTime, m.LastAttemptTime = instant(job.GetScheduleTime()), instant(job.GetLastAttemptTime())
	m.UserUpdateTime = instant(job.GetUserUpdateTime())
	m.LastAttemptStatus = types.ObjectNull(statusTypes())
	if job.GetLastAttemptTime() != nil {
		m.LastAttemptStatus = ended(job.GetStatus())
	}
}

// ended is how an attempt ended; the server leaves the status out when all was well.
func ended(s *status.Status) types.Object {
	return types.ObjectValueMust(statusTypes(), map[string]attr.Value{
		"code": types.StringValue(code.Code(s.GetCode()).String()), "message": types.StringValue(s.GetMessage()),
	})
}

func instant(at *timestamppb.Timestamp) types.String {
	if at == nil {
		return types.StringNull()
	}
	return types.StringValue(at.AsTime().Format(time.RFC3339))
}

func span(d *durationpb.Duration) types.String {
	if d == nil {
		return types.StringNull()
	}
	return types.StringValue(fmt.Sprintf("%gs", d.AsDuration().Seconds()))
}
