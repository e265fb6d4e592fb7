package livejob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema lays out the type. Target, headers and body are not shown: they may hold secrets.
func (*DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	computed := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A job as Cloud Scheduler has it now: when it runs next, and how its last attempt ended.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, MarkdownDescription: "The job's name."},
			"project": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "The project. Unset: the provider's.",
			},
			"region": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "The region. Unset: the provider's.",
			},
			"id":                computed("The full name, `projects/{project}/locations/{region}/jobs/{name}`."),
			"description":       computed("What the job is for."),
			"schedule":          computed("Its schedule."),
			"time_zone":         computed("The time zone of the schedule."),
			"attempt_deadline":  computed("How long Cloud Scheduler waits for an answer, such as `180s`. Null: its default."),
			"state":             computed("`ENABLED`, `PAUSED`, `DISABLED` or `UPDATE_FAILED`."),
			"next_time":         computed("When it runs next, or is tried next, RFC 3339. Null: the server names no time, as for a job that is paused."),
			"last_attempt_time": computed("When the last attempt began, RFC 3339. Null: there was none."),
			"last_attempt_status": schema.SingleNestedAttribute{
				Computed: true, MarkdownDescription: "How the last attempt ended. Null: there was none.",
				Attributes: map[string]schema.Attribute{
					"code":    computed("`OK`, or the name of the error, such as `DEADLINE_EXCEEDED`."),
					"message": computed("What Cloud Scheduler says of it, often nothing."),
				},
			},
			"user_update_time": computed("When the job was last changed, RFC 3339."),
		},
	}
}

func statusTypes() map[string]attr.Type {
	return map[string]attr.Type{"code": types.StringType, "message": types.StringType}
}
