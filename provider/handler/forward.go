package handler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// forwarded is what the runs of one job start.
type forwarded struct {
	Target        types.String   `tfsdk:"target"`
	OnUnknown     types.String   `tfsdk:"on_unknown"`
	Argument      types.String   `tfsdk:"argument"`
	Container     types.String   `tfsdk:"container"`
	Args          types.List     `tfsdk:"args"`
	Env           types.Map      `tfsdk:"env"`
	Tasks         types.Int64    `tfsdk:"tasks"`
	Timeout       spelling.Value `tfsdk:"timeout"`
	Branch        types.String   `tfsdk:"branch"`
	Tag           types.String   `tfsdk:"tag"`
	Commit        types.String   `tfsdk:"commit"`
	Substitutions types.Map      `tfsdk:"substitutions"`
}

func forwardAttributes() map[string]schema.Attribute {
	pairs := func(description string) schema.MapAttribute {
		return schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"target": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "The full name of what is started: `projects/PROJECT/locations/REGION/workflows/NAME`, `…/jobs/NAME` of " +
				"Cloud Run, or `…/triggers/NAME` of Cloud Build.",
		},
		"on_unknown": text("What becomes of a run when it cannot be found out whether it was started: `hold` it for an operator " +
			"(default), or `rerun` it, which may start a second execution."),
		"argument":  text("A workflow's argument, a JSON object; the field `run` is added."),
		"container": text("The container of a Cloud Run job that the overrides are for. Unset: the only one."),
		"args": schema.ListAttribute{
			Optional: true, ElementType: types.StringType, MarkdownDescription: "The container's arguments. Unset: the job's own.",
		},
		"env":   pairs("Added to the container's environment."),
		"tasks": schema.Int64Attribute{Optional: true, MarkdownDescription: "The number of tasks. Unset: the job's own."},
		"timeout": schema.StringAttribute{
			Optional: true, CustomType: spelling.Type{Kind: spelling.Duration}, MarkdownDescription: "How long a task may take. Unset: the job's own.",
			PlanModifiers: []planmodifier.String{spelling.Keep(spelling.Duration)},
		},
		"branch":        text("The branch that a trigger builds. Unset, with `tag` and `commit`: the trigger's own."),
		"tag":           text("The tag that a trigger builds."),
		"commit":        text("The commit that a trigger builds."),
		"substitutions": pairs("Substitutions for the build."),
	}
}

// forwards reads what the runs of the jobs start. Unknown: something of it is not known yet; the targets may be known all the same.
func (m model) forwards(ctx context.Context, diags *diag.Diagnostics) (jobs map[string]forwarded, unknown bool) {
	if m.Forward.IsUnknown() {
		return nil, true
	}
	jobs = map[string]forwarded{}
	for name, element := range m.Forward.Elements() {
		if element.IsUnknown() {
			unknown = true
			continue
		}
		object, ok := element.(types.Object)
		if !ok || object.IsNull() {
			continue
		}
		var job forwarded
		diags.Append(object.As(ctx, &job, objectOptions())...)
		for _, value := range object.Attributes() {
			unknown = unknown || !wholly(ctx, value)
		}
		jobs[name] = job
	}
	return jobs, unknown
}

// wholly says whether a value is known down to its last element.
func wholly(ctx context.Context, value attr.Value) bool {
	raw, err := value.ToTerraformValue(ctx)
	return err == nil && raw.IsFullyKnown()
}

// spec is what the generator takes.
func (f forwarded) spec() (generator.Forward, error) {
	args, _ := textsOf(f.Args)
	spec := generator.Forward{
		Target: f.Target.ValueString(), OnUnknown: f.OnUnknown.ValueString(), Argument: f.Argument.ValueString(),
		Container: f.Container.ValueString(), Args: args, Env: pairsOf(f.Env), Tasks: int(f.Tasks.ValueInt64()),
		Branch: f.Branch.ValueString(), Tag: f.Tag.ValueString(), Commit: f.Commit.ValueString(), Substitutions: pairsOf(f.Substitutions),
	}
	if f.Timeout.ValueString() == "" {
		return spec, nil
	}
	d, err := time.ParseDuration(f.Timeout.ValueString())
	if err != nil {
		return spec, fmt.Errorf("read timeout: %w", err)
	}
	spec.Timeout = d
	return spec, nil
}

func pairsOf(m types.Map) map[string]string {
	pairs := map[string]string{}
	for key, element := range m.Elements() {
		if text, ok := element.(types.String); ok {
			pairs[key] = text.ValueString()
		}
	}
	return pairs
}

// forward judges what the generator cannot: a timeout that is no duration.
func (c checker) forward(jobs map[string]forwarded) {
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if _, err := jobs[name].spec(); err != nil {
			c.refuse(path.Root("forward").AtMapKey(name).AtName("timeout"), "forward."+name+".timeout",
				fmt.Sprintf("%q is not a duration", jobs[name].Timeout.ValueString()), "Write a number and a unit, such as \"600s\" or \"10m\".")
		}
	}
}

// starts are the roles by which the handler starts what its jobs forward to and looks it up again. A look-up of a Cloud Run job's
// executions is granted on the job; builds cannot be granted on their trigger, so that those roles are the project's.
func (m model) starts(jobs map[string]forwarded) map[string]role {
	grants := map[string]role{}
	grant := func(key, name, resourceType string, resource types.String) {
		grants[key] = role{
			role: types.StringValue(name), member: memberOf(m.ServiceAccountEmail), resourceType: types.StringValue(resourceType),
			resource: resource, condition: types.StringNull(),
		}
	}
	for name, job := range jobs {
		start, lookUp := "start:"+name, "look_up:"+name
		switch m.Kind.ValueString() {
		case "forward_workflows":
			grant(start, "roles/workflows.invoker", "workflow", job.Target)
			grant(lookUp, "roles/workflows.viewer", "workflow", job.Target)
		case "forward_run_job":
			grant(start, "roles/run.jobsExecutorWithOverrides", "cloud_run_job", job.Target)
			grant(lookUp, "roles/run.viewer", "cloud_run_job", job.Target)
		case "forward_cloud_build":
			grant(start, "roles/cloudbuild.builds.editor", "project", projectOf(job.Target))
		}
	}
	return grants
}

// projectOf is projects/PROJECT of a full name.
func projectOf(name types.String) types.String {
	parts := strings.SplitN(name.ValueString(), "/", 3)
	if name.IsUnknown() || len(parts) < 3 {
		return types.StringUnknown()
	}
	return types.StringValue(parts[0] + "/" + parts[1])
}
