package scheduledjob

import (
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// retryFromAPI compares the server's retry settings with the effective ones. Only what differs is written into the block, so that a
// field which people left out, and which the server reports all the same, is no drift; a changed one is.
func (m *model) retryFromAPI(live *schedulerpb.RetryConfig, diags *diag.Diagnostics) {
	block, _ := only[retryConfig](m.RetryConfig, diags)
	if block == nil {
		block = &retryConfig{
			MaxRetryDuration:   spelling.Null(spelling.Duration),
			MinBackoffDuration: spelling.Null(spelling.Duration),
			MaxBackoffDuration: spelling.Null(spelling.Duration),
		}
	}
	effective := liveRetry(live)
	drift := false
	number := func(name string, field *types.Int64) {
		now, _ := effective[name].(types.Int64)
		before, _ := m.EffectiveRetryConfig.Attributes()[name].(types.Int64)
		if now.Equal(before) || before.ValueInt64() == 0 && !before.IsNull() && now.ValueInt64() == serverDefault(name) {
			effective[name] = before
			return
		}
		*field, drift = now, true
	}
	span := func(name string, field *spelling.Value) {
		now, _ := effective[name].(types.String)
		before, _ := m.EffectiveRetryConfig.Attributes()[name].(types.String)
		if spelling.Duration.Same(now.ValueString(), before.ValueString()) ||
			spelling.Duration.Same(before.ValueString(), "0s") && spelling.Duration.Same(now.ValueString(), serverDefaultDuration(name)) {
			effective[name] = before
			return
		}
		*field, drift = spelling.From(spelling.Duration, now), true
	}
	number("retry_count", &block.RetryCount)
	number("max_doublings", &block.MaxDoublings)
	span("max_retry_duration", &block.MaxRetryDuration)
	span("min_backoff_duration", &block.MinBackoffDuration)
	span("max_backoff_duration", &block.MaxBackoffDuration)
	if !drift {
		return
	}
	m.RetryConfig = listOf(m.RetryConfig, block, diags)
	m.EffectiveRetryConfig = types.ObjectValueMust(effectiveRetryTypes(), effective)
}

// serverDefault and serverDefaultDuration are what the server puts in the place of a zero, which it cannot tell from a field that
// was left out. A zero that people wrote and that comes back so is no drift.
func serverDefault(name string) int64 {
	if name == "max_doublings" {
		return 5
	}
	return 0
}

func serverDefaultDuration(name string) string {
	switch name {
	case "min_backoff_duration":
		return "5s"
	case "max_backoff_duration":
		return "3600s"
	default:
		return "0s"
	}
}

// liveRetry is the server's settings as the effective attributes write them; the server leaves out what is zero.
func liveRetry(live *schedulerpb.RetryConfig) map[string]attr.Value {
	span := func(d *durationpb.Duration) attr.Value { return types.StringValue(fromProto(d)) }
	return map[string]attr.Value{
		"retry_count":          types.Int64Value(int64(live.GetRetryCount())),
		"max_doublings":        types.Int64Value(int64(live.GetMaxDoublings())),
		"max_retry_duration":   span(live.GetMaxRetryDuration()),
		"min_backoff_duration": span(live.GetMinBackoffDuration()),
		"max_backoff_duration": span(live.GetMaxBackoffDuration()),
	}
}
