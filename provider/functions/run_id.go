package functions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

var _ function.Function = (*RunID)(nil)

// RunID is the function run_id: the id under which a run is claimed.
type RunID struct{}

// NewRunID is the function.
func NewRunID() function.Function { return &RunID{} }

// Metadata names the function.
func (*RunID) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "run_id"
}

// Definition lays out parameters and result.
func (*RunID) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The id under which a run of a job is claimed",
		MarkdownDescription: "Returns the id of the claim record of one run: the lower-case hex SHA-256 of the run's name. Use it to look a " +
			"run up in the store.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "job", MarkdownDescription: "The job's full name, as its `id` has it."},
			function.StringParameter{Name: "schedule_time", MarkdownDescription: "When the run was scheduled, RFC 3339."},
		},
		VariadicParameter: function.DynamicParameter{
			Name: "options",
			MarkdownDescription: "At most one object with any of `forced` (bool: a forced run kept apart), `run_scope` and `run_id_format` " +
				"(as in the block `deduplication`).",
		},
		Return: function.StringReturn{},
	}
}

// Run computes the id.
func (*RunID) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var job, scheduled string
	var options []types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &job, &scheduled, &options); resp.Error != nil {
		return
	}
	name, err := jobs.ParseName(job, "", "")
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0,
			fmt.Sprintf("job: %q is not a full name: pass projects/PROJECT/locations/REGION/jobs/NAME, the id of the job", job))
		return
	}
	at, err := time.Parse(time.RFC3339Nano, scheduled)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1,
			fmt.Sprintf("schedule_time: %q is not a time: write RFC 3339, such as 2026-10-16T12:00:00Z", scheduled))
		return
	}
	identity := run.Identity{Project: name.Project, Region: name.Region, Job: name.Job, ScheduleTime: at, Format: run.FormatV1}
	if resp.Error = readOptions(options, &identity); resp.Error != nil {
		return
	}
	full, err := identity.Name()
	var bad *run.NameError
	switch {
	case errors.As(err, &bad):
		resp.Error = function.NewFuncError(fmt.Sprintf("%s: %q cannot be part of a run's name: it must match %s", where(bad.Part), bad.Value, bad.Allowed))
		return
	case err != nil:
		resp.Error = function.NewFuncError(err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, run.ID(full))
}

// where is the argument that a part of the name comes from.
func where(part string) string {
	if part == "scope" {
		return "options: run_scope"
	}
	return "job"
}

// readOptions reads the optional object.
func readOptions(options []types.Dynamic, identity *run.Identity) *function.FuncError {
	if len(options) > 1 {
		return function.NewArgumentFuncError(3, "options: pass one object at most")
	}
	for _, option := range options {
		fields, ok := option.UnderlyingValue().(interface{ Attributes() map[string]attr.Value })
		if !ok {
			return function.NewArgumentFuncError(2, `options: pass an object, such as { forced = true }`)
		}
		for name, value := range fields.Attributes() {
			if err := readOption(name, value, identity); err != nil {
				return err
			}
		}
	}
	return nil
}

func readOption(name string, value attr.Value, identity *run.Identity) *function.FuncError {
	if value.IsNull() {
		return nil
	}
	flag, isFlag := value.(types.Bool)
	text, isText := value.(types.String)
	switch {
	case name == "forced" && isFlag:
		identity.Forced = flag.ValueBool()
	case name == "run_scope" && isText:
		identity.Scope = text.ValueString()
	case name == "run_id_format" && isText:
		identity.Format = run.Format(text.ValueString())
		if identity.Format != run.FormatV1 && identity.Format != run.FormatSample {
			return function.NewArgumentFuncError(2, fmt.Sprintf("options: run_id_format: %q is neither v1 nor sample", text.ValueString()))
		}
	default:
		return function.NewArgumentFuncError(2,
			fmt.Sprintf("options: %s = %s is none of forced (a bool), run_scope and run_id_format (strings)", name, value))
	}
	return nil
}
