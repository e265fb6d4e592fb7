package scheduledjob

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// pausedByUs is the private key under which it is kept that this resource, not a person, paused the job.
const pausedByUs = "paused_by_us"

// privateReader and privateWriter are what the framework hands out as private state.
type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// plannedPaused is what people asked for. When they ask for nothing, what they do by hand is left alone; but what this resource
// paused, it resumes once the configuration no longer asks for it.
func plannedPaused(ctx context.Context, private privateReader, config, plan model, state *model, diags *diag.Diagnostics) types.Bool {
	switch {
	case !config.Paused.IsNull():
		return plan.Paused
	case state == nil:
		return types.BoolValue(false)
	case state.Paused.ValueBool() && wasPausedByUs(ctx, private, diags):
		return types.BoolValue(false)
	default:
		return state.Paused
	}
}

func wasPausedByUs(ctx context.Context, private privateReader, diags *diag.Diagnostics) bool {
	value, found := private.GetKey(ctx, pausedByUs)
	diags.Append(found...)
	return string(value) == "true"
}

// rememberPaused notes whether it was the configuration that paused the job.
func rememberPaused(ctx context.Context, private privateWriter, byUs bool, diags *diag.Diagnostics) {
	diags.Append(private.SetKey(ctx, pausedByUs, strconv.AppendBool(nil, byUs))...)
}
