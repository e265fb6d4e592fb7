package scheduledjob

import (
	"context"
	"fmt"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

var _ list.ListResourceWithConfigure = (*Resource)(nil)

// NewList is the list of the jobs of a region, which Terraform 1.14 and later can query and turn into import blocks.
func NewList() list.ListResource { return &Resource{} }

// place is the configuration of a list block.
type place struct {
	Project types.String `tfsdk:"project"`
	Region  types.String `tfsdk:"region"`
}

// ListResourceConfigSchema lays out the list block.
func (*Resource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The jobs of one region with an HTTP or App Engine target. Jobs that publish to a Pub/Sub topic are left out.",
		Attributes: map[string]schema.Attribute{
			"project": schema.StringAttribute{Optional: true, MarkdownDescription: "The project. Unset: the provider's."},
			"region":  schema.StringAttribute{Optional: true, MarkdownDescription: "The region. Unset: the provider's."},
		},
	}
}

// List walks the region's jobs up to the limit.
func (r *Resource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var config place
	diags := req.Config.Get(ctx, &config)
	project := listed("project", config.Project, r.cloud.Settings.Project, &diags)
	region := listed("region", config.Region, r.cloud.Settings.Region, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		var sent int64
		for live, err := range r.cloud.Jobs.List(ctx, project, region) {
			if err != nil {
				push(list.ListResult{Diagnostics: diag.Diagnostics{explain.Error(listOperation(project, region), err)}})
				return
			}
			if live.GetHttpTarget() == nil && live.GetAppEngineHttpTarget() == nil {
				continue
			}
			if sent++; !push(result(ctx, req, live)) || sent == req.Limit {
				return
			}
		}
	}
}

func listOperation(project, region string) explain.Operation {
	return explain.Operation{
		Verb: "list", Noun: "jobs of", Name: project + "/" + region,
		Remedies: map[codes.Code]string{
			codes.PermissionDenied: fmt.Sprintf("Grant the caller roles/cloudscheduler.viewer on project %s, or check that Cloud Scheduler is "+
				"offered in region %s (`gcloud scheduler locations list`).", project, region),
		},
	}
}

// listed is project or region: what the block names, else the provider's.
func listed(attribute string, written types.String, fallback string, diags *diag.Diagnostics) string {
	switch {
	case written.ValueString() != "":
		return written.ValueString()
	case fallback == "":
		diags.AddAttributeError(path.Root(attribute), attribute+" of the list is not set",
			fmt.Sprintf("Neither the list block nor the provider block names a %s. Set it in either of them.", attribute))
	}
	return fallback
}

// result is a job as an import would read it.
func result(ctx context.Context, req list.ListRequest, live *schedulerpb.Job) list.ListResult {
	found := req.NewListResult(ctx)
	name, err := jobs.ParseName(live.GetName(), "", "")
	if err != nil {
		found.Diagnostics.AddError("Unable to list a job", fmt.Sprintf("The server's name %s.", err))
		return found
	}
	found.DisplayName = name.Job
	m := model{
		Project: types.StringValue(name.Project), Region: types.StringValue(name.Region), Name: types.StringValue(name.Job),
	}
	found.Diagnostics.Append(found.Identity.Set(ctx, m.identity())...)
	if !req.IncludeResource {
		return found
	}
	// Setting one attribute gives the empty object its shape.
	found.Diagnostics.Append(found.Resource.SetAttribute(ctx, path.Root("name"), name.Job)...)
	found.Diagnostics.Append(found.Resource.Get(ctx, &m)...)
	if found.Diagnostics.HasError() {
		return found
	}
	m.Project, m.Region, m.DeletionPolicy = types.StringValue(name.Project), types.StringValue(name.Region), types.StringValue(deletionDelete)
	m.assume(live, &found.Diagnostics)
	m.fromAPI(name, live, nil, &found.Diagnostics)
	found.Diagnostics.Append(found.Resource.Set(ctx, m)...)
	return found
}
