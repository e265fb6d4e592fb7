package functions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

var _ function.Function = (*UnixCron)(nil)

// UnixCron is the function unix_cron: a schedule in unix-cron, from groc.
type UnixCron struct{}

// NewUnixCron is the function.
func NewUnixCron() function.Function { return &UnixCron{} }

// Metadata names the function.
func (*UnixCron) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "unix_cron"
}

// Definition lays out parameter and result.
func (*UnixCron) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "A groc schedule in unix-cron",
		MarkdownDescription: "Returns the unix-cron expression with the grid of a schedule written in groc, the older language of App " +
			"Engine's cron.yaml: `every day 00:00`, `every 5 minutes`, `every mon,wed 9:00`. Unix-cron is returned as it is. An interval " +
			"that is not `synchronized` has no grid in groc, since it counts from the run before; it gets the one from midnight. It is an " +
			"error, with the reason, where unix-cron has no equal.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "schedule", MarkdownDescription: "The schedule, in groc or unix-cron."},
		},
		Return: function.StringReturn{},
	}
}

// Run converts the schedule.
func (*UnixCron) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var schedule string
	if resp.Error = req.Arguments.Get(ctx, &schedule); resp.Error != nil {
		return
	}
	if equal, ok := unixcron.FromGroc(schedule); ok {
		resp.Error = resp.Result.Set(ctx, equal)
		return
	}
	_, err := unixcron.Parse(schedule)
	if err == nil {
		resp.Error = resp.Result.Set(ctx, schedule)
		return
	}
	if bad, ok := errors.AsType[*unixcron.Error](err); ok && bad.Kind == unixcron.Groc {
		resp.Error = function.NewArgumentFuncError(0, fmt.Sprintf("schedule: %q has no equal in unix-cron: %s", schedule, whyNone(schedule)))
		return
	}
	resp.Error = function.NewArgumentFuncError(0, "schedule: "+err.Error())
}

var (
	grocWindow   = regexp.MustCompile(`\bfrom\b.*\bto\b`)
	grocInterval = regexp.MustCompile(`^every\s+\d+\s+(minutes?|mins?|hours?)\b`)
	grocWeekday  = regexp.MustCompile(`\b(sun|mon|tue|wed|thu|fri|sat)`)
)

// whyNone says why a groc schedule has no equal, as far as its form tells.
func whyNone(schedule string) string {
	text := strings.ToLower(strings.TrimSpace(schedule))
	ordinal := !strings.HasPrefix(text, "every")
	switch {
	case grocInterval.MatchString(text) && grocWindow.MatchString(text):
		return "its window ends within an hour, and unix-cron's hours are whole; use two jobs, or a window that ends at minute 59"
	case grocInterval.MatchString(text):
		return "its runs are not the same every hour and every day, and unix-cron begins anew each hour and day; choose a number of " +
			"minutes that divides 60, or of hours that divides 24"
	case ordinal && grocWeekday.MatchString(text):
		return "unix-cron cannot say which of a month's weekdays is meant: where both day fields are restricted, either matches; run on " +
			"every such weekday and have the work look at the date"
	default:
		return "it is not groc as App Engine documents it; write it in unix-cron: minute, hour, day of month, month, day of week"
	}
}
