package scheduledjob

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// computedAttributes are what follows from the configuration, and what only the server knows.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, MarkdownDescription: "The full name, `projects/{project}/locations/{region}/jobs/{name}`.",
		},
		"state": schema.StringAttribute{
			Computed: true, MarkdownDescription: "`ENABLED`, `PAUSED`, `DISABLED` or `UPDATE_FAILED`, as the server says.",
		},
		"effective_retry_config": schema.SingleNestedAttribute{
			Computed: true, Attributes: computedEach(effectiveRetryTypes()),
			MarkdownDescription: "`retry_config` with every default filled in. Unless `deduplication.mode` is `observe`, the defaults are " +
				"such that a retry comes after the lease of a crashed attempt.",
		},
		"effective_deduplication": schema.SingleNestedAttribute{
			Computed: true, Attributes: computedEach(effectiveDeduplicationTypes()),
			MarkdownDescription: "`deduplication` with every default filled in. `ttl_policy` is `ensured` for a Firestore collection whose " +
				"expiry policy is managed, `missing` when somebody took it away, else `unmanaged`.",
		},
		"retry_schedule": schema.ListNestedAttribute{
			Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: computedEach(attemptTypes())},
			MarkdownDescription: "When each attempt of a run starts, counted from the schedule time: `earliest` when every attempt before " +
				"it failed at once, `latest` when each was held until the deadline; `lease_end` is when a claim made at `earliest` lapses, " +
				"`after_lease` whether a first attempt that crashed is sure to be over.",
		},
		"injected_headers": schema.MapAttribute{
			ElementType: types.StringType, Computed: true,
			MarkdownDescription: "The headers that tell the handler what was proved about this job.",
		},
		"handler_files": schema.MapAttribute{
			ElementType: types.StringType, Computed: true,
			MarkdownDescription: "The generated handler: path to content. Empty without a `handler` block.",
		},
	}
}

// computedEach makes a computed attribute of each type.
func computedEach(fields map[string]attr.Type) map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(fields))
	for name, fieldType := range fields {
		switch fieldType {
		case types.BoolType:
			attributes[name] = schema.BoolAttribute{Computed: true}
		case types.Int64Type:
			attributes[name] = schema.Int64Attribute{Computed: true}
		default:
			attributes[name] = schema.StringAttribute{Computed: true}
		}
	}
	return attributes
}

func effectiveRetryTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"retry_count":          types.Int64Type,
		"max_retry_duration":   types.StringType,
		"min_backoff_duration": types.StringType,
		"max_backoff_duration": types.StringType,
		"max_doublings":        types.Int64Type,
	}
}

func effectiveDeduplicationTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"mode":            types.StringType,
		"store":           types.StringType,
		"manage_ttl":      types.BoolType,
		"ttl_policy":      types.StringType,
		"request_timeout": types.StringType,
		"lease":           types.StringType,
		"renew_lease":     types.BoolType,
		"retention":       types.StringType,
		"forced_runs":     types.StringType,
		"run_scope":       types.StringType,
		"run_id_format":   types.StringType,
		"max_attempts":    types.Int64Type,
		"at_most_once":    types.BoolType,
		"wait":            types.BoolType,
	}
}

func attemptTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"attempt":     types.Int64Type,
		"earliest":    types.StringType,
		"latest":      types.StringType,
		"lease_end":   types.StringType,
		"after_lease": types.BoolType,
	}
}
