package functions

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

var _ function.Function = (*NextRuns)(nil)

// NextRuns is the function next_runs: when a schedule fires. It reads no clock: the time is an argument.
type NextRuns struct{}

// NewNextRuns is the function.
func NewNextRuns() function.Function { return &NextRuns{} }

// Metadata names the function.
func (*NextRuns) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "next_runs"
}

// mostRuns bounds the count: a plan is no place for more.
const mostRuns = 1000

// Definition lays out parameters and result.
func (*NextRuns) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "When a schedule fires",
		MarkdownDescription: "Returns an object: `times`, the next times at which the schedule fires, RFC 3339 with the offset of the zone; " +
			"`words`, the schedule in words; and `affected`, the next of its times that changes of the clocks skip or repeat, each " +
			"with `wall` (the time by the wall clock), `kind` (`skipped` or `repeated`) and `at` (the instants at which it fires: none, or " +
			"two). The result follows from the arguments alone: pass a fixed time, or `plantimestamp()`.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "schedule", MarkdownDescription: "The schedule, in unix-cron."},
			function.StringParameter{Name: "time_zone", MarkdownDescription: "Its time zone, a name of the tz database; `\"\"` for UTC."},
			function.StringParameter{Name: "after", MarkdownDescription: "The time after which runs are meant, RFC 3339."},
			function.Int64Parameter{Name: "count", MarkdownDescription: fmt.Sprintf("How many, 1 to %d.", mostRuns)},
		},
		Return: function.ObjectReturn{AttributeTypes: nextRunsTypes()},
	}
}

func affectedTypes() map[string]attr.Type {
	return map[string]attr.Type{"wall": types.StringType, "kind": types.StringType, "at": types.ListType{ElemType: types.StringType}}
}

func nextRunsTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"times":    types.ListType{ElemType: types.StringType},
		"words":    types.StringType,
		"affected": types.ListType{ElemType: types.ObjectType{AttrTypes: affectedTypes()}},
	}
}

// Run lists the times.
func (*NextRuns) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var expr, zone, from string
	var count int64
	if resp.Error = req.Arguments.Get(ctx, &expr, &zone, &from, &count); resp.Error != nil {
		return
	}
	schedule, err := unixcron.Parse(expr)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, "schedule: "+err.Error())
		return
	}
	location, err := unixcron.LoadLocation(zone)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, "time_zone: "+err.Error())
		return
	}
	after, err := time.Parse(time.RFC3339, from)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(2, fmt.Sprintf("after: %q is not a time: write RFC 3339, such as 2026-10-16T12:00:00Z", from))
		return
	}
	if count < 1 || count > mostRuns {
		resp.Error = function.NewArgumentFuncError(3, fmt.Sprintf("count: %d is not possible: ask for 1 to %d", count, mostRuns))
		return
	}
	resp.Error = resp.Result.Set(ctx, nextRuns(schedule, location, after, int(count)))
}

func nextRuns(schedule unixcron.Schedule, location *time.Location, after time.Time, count int) types.Object {
	var times []time.Time
	for next := schedule.Next(after, location); !next.IsZero() && len(times) < count; next = schedule.Next(next, location) {
		times = append(times, next)
	}
	row := types.ObjectType{AttrTypes: affectedTypes()}
	affected := []attr.Value{}
	for _, change := range schedule.NextAffected(after, location, count) {
		affected = append(affected, types.ObjectValueMust(affectedTypes(), map[string]attr.Value{
			"wall": types.StringValue(change.Wall), "kind": types.StringValue(string(change.Kind)), "at": instants(change.At),
		}))
	}
	return types.ObjectValueMust(nextRunsTypes(), map[string]attr.Value{
		"times": instants(times), "words": types.StringValue(schedule.Describe()), "affected": types.ListValueMust(row, affected),
	})
}

func instants(times []time.Time) types.List {
	texts := make([]attr.Value, 0, len(times))
	for _, at := range times {
		texts = append(texts, types.StringValue(at.Format(time.RFC3339)))
	}
	return types.ListValueMust(types.StringType, texts)
}
