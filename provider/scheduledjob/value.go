package scheduledjob

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// absent is a value that is left out, or one that is not known yet.
func absent[T any](unknown bool) jobspec.Value[T] {
	if unknown {
		return jobspec.Unknown[T]()
	}
	return jobspec.Unset[T]()
}

func stringOf(v types.String) jobspec.Value[string] {
	if v.IsNull() || v.IsUnknown() {
		return absent[string](v.IsUnknown())
	}
	return jobspec.Known(v.ValueString())
}

func boolOf(v types.Bool) jobspec.Value[bool] {
	if v.IsNull() || v.IsUnknown() {
		return absent[bool](v.IsUnknown())
	}
	return jobspec.Known(v.ValueBool())
}

func intOf(v types.Int64) jobspec.Value[int] {
	if v.IsNull() || v.IsUnknown() {
		return absent[int](v.IsUnknown())
	}
	return jobspec.Known(int(v.ValueInt64()))
}

// mapOf reads a map of strings of which each value may still be unknown.
func mapOf(v types.Map) jobspec.Value[map[string]jobspec.Value[string]] {
	if v.IsNull() || v.IsUnknown() {
		return absent[map[string]jobspec.Value[string]](v.IsUnknown())
	}
	values := make(map[string]jobspec.Value[string], len(v.Elements()))
	for key, element := range v.Elements() {
		if text, ok := element.(types.String); ok {
			values[key] = stringOf(text)
		}
	}
	return jobspec.Known(values)
}

// toString, toBool, toInt and toDuration are the way back: unset is null, unknown stays unknown.
func toString(v jobspec.Value[string]) types.String {
	if s, ok := v.Get(); ok {
		return types.StringValue(s)
	}
	if v.IsUnknown() {
		return types.StringUnknown()
	}
	return types.StringNull()
}

func toBool(v jobspec.Value[bool]) types.Bool {
	if b, ok := v.Get(); ok {
		return types.BoolValue(b)
	}
	if v.IsUnknown() {
		return types.BoolUnknown()
	}
	return types.BoolNull()
}

func toInt(v jobspec.Value[int]) types.Int64 {
	if n, ok := v.Get(); ok {
		return types.Int64Value(int64(n))
	}
	if v.IsUnknown() {
		return types.Int64Unknown()
	}
	return types.Int64Null()
}

func toDuration(v jobspec.Value[time.Duration]) types.String {
	if d, ok := v.Get(); ok {
		return types.StringValue(seconds(d))
	}
	if v.IsUnknown() {
		return types.StringUnknown()
	}
	return types.StringNull()
}

func toMap(values map[string]jobspec.Value[string]) types.Map {
	elements := make(map[string]attr.Value, len(values))
	for key, value := range values {
		elements[key] = toString(value)
	}
	return types.MapValueMust(types.StringType, elements)
}

// seconds writes a duration as the API does, 180s.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }
