package scheduledjob

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// What deletion_policy may say.
const (
	deletionDelete  = "DELETE"
	deletionAbandon = "ABANDON"
	deletionPrevent = "PREVENT"
)

// Schema lays out the type: the attributes and blocks of google_cloud_scheduler_job, and what this provider adds.
func (*Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A Cloud Scheduler job of which every scheduled run has one effect, however often it is delivered. It " +
			"takes the place of `google_cloud_scheduler_job`: the same names and blocks, with proofs at plan time.",
		Attributes: attributes(),
		Blocks: map[string]schema.Block{
			"http_target":            httpTargetBlock(),
			"app_engine_http_target": appEngineTargetBlock(),
			"retry_config":           retryConfigBlock(),
			"deduplication":          deduplicationBlock(),
			"handler":                handlerBlock(),
			"timeouts":               timeouts.Block(ctx, timeouts.Opts{Create: true, Read: true, Update: true, Delete: true}),
		},
	}
	maps.Copy(resp.Schema.Attributes, computedAttributes())
}

func attributes() map[string]schema.Attribute {
	replace := stringplanmodifier.RequiresReplace()
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true, PlanModifiers: []planmodifier.String{replace},
			MarkdownDescription: "The job's name, `[A-Za-z0-9_-]{1,500}`. Another name is another job.",
		},
		"project": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "The project. Unset: the provider's.",
		},
		"region": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "The region. Unset: the provider's.",
		},
		"description": schema.StringAttribute{
			Optional: true, MarkdownDescription: "What the job is for, at most 500 characters.",
		},
		"schedule": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "When the job runs, in unix-cron: minute, hour, day of month, month, day of week.",
		},
		"time_zone": schema.StringAttribute{
			Optional: true, Computed: true, CustomType: spelling.Type{Kind: spelling.Zone},
			PlanModifiers:       []planmodifier.String{spelling.Keep(spelling.Zone)},
			MarkdownDescription: "The time zone of the schedule, a name of the tz database. Unset: `Etc/UTC`.",
		},
		"attempt_deadline": schema.StringAttribute{
			Optional: true, Computed: true, CustomType: spelling.Type{Kind: spelling.Duration},
			PlanModifiers: []planmodifier.String{spelling.Keep(spelling.Duration)},
			MarkdownDescription: "How long Cloud Scheduler waits for an answer before it counts the attempt as failed, such as `180s` or " +
				"`3m`; from 15 s to 30 min, for an App Engine target to 24 h 15 s. Unset: `180s`; for an App Engine target `0s`, which " +
				"is the default of the service's scaling and needs `deduplication.renew_lease`.",
		},
		"paused": schema.BoolAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Whether the schedule is stopped. A job that is created paused never fires. Unset: what people do by " +
				"hand is left alone; removing a `paused` that this resource set resumes the job.",
		},
		"accepted_risks": schema.MapAttribute{
			ElementType: types.StringType, Optional: true,
			MarkdownDescription: "Risks that are taken knowingly: rule id to the reason why.",
		},
		"deletion_policy": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "What destroying does: `DELETE` the job (default), `ABANDON` it (it stays and keeps firing), or " +
				"`PREVENT` the plan.",
		},
	}
}
