package scheduledjob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/fields"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// model is the resource as configuration, plan and state hold it. Blocks stay lists: a dynamic block can be unknown as a whole.
type model struct {
	ID              types.String   `tfsdk:"id"`
	Name            types.String   `tfsdk:"name"`
	Project         types.String   `tfsdk:"project"`
	Region          types.String   `tfsdk:"region"`
	Description     types.String   `tfsdk:"description"`
	Schedule        types.String   `tfsdk:"schedule"`
	TimeZone        spelling.Value `tfsdk:"time_zone"`
	AttemptDeadline spelling.Value `tfsdk:"attempt_deadline"`
	Paused          types.Bool     `tfsdk:"paused"`
	State           types.String   `tfsdk:"state"`
	AcceptedRisks   types.Map      `tfsdk:"accepted_risks"`
	DeletionPolicy  types.String   `tfsdk:"deletion_policy"`

	HTTPTarget      types.List     `tfsdk:"http_target"`
	AppEngineTarget types.List     `tfsdk:"app_engine_http_target"`
	RetryConfig     types.List     `tfsdk:"retry_config"`
	Deduplication   types.List     `tfsdk:"deduplication"`
	Handler         types.List     `tfsdk:"handler"`
	Timeouts        timeouts.Value `tfsdk:"timeouts"`

	EffectiveRetryConfig   types.Object `tfsdk:"effective_retry_config"`
	EffectiveDeduplication types.Object `tfsdk:"effective_deduplication"`
	RetrySchedule          types.List   `tfsdk:"retry_schedule"`
	InjectedHeaders        types.Map    `tfsdk:"injected_headers"`
	HandlerFiles           types.Map    `tfsdk:"handler_files"`
}

// request is what both kinds of target have in common. HeadersWO is null in plans and states.
type request struct {
	HTTPMethod       types.String   `tfsdk:"http_method"`
	Body             spelling.Value `tfsdk:"body"`
	BodyText         types.String   `tfsdk:"body_text"`
	Headers          types.Map      `tfsdk:"headers"`
	HeadersWO        types.Map      `tfsdk:"headers_wo"`
	HeadersWOVersion types.String   `tfsdk:"headers_wo_version"`
}

type httpTarget struct {
	request

	URI        spelling.Value `tfsdk:"uri"`
	OIDCToken  types.List     `tfsdk:"oidc_token"`
	OAuthToken types.List     `tfsdk:"oauth_token"`
}

type appEngineTarget struct {
	request

	RelativeURI types.String `tfsdk:"relative_uri"`
	Routing     types.List   `tfsdk:"app_engine_routing"`
}

type appEngineRouting struct {
	Service  types.String `tfsdk:"service"`
	Version  types.String `tfsdk:"version"`
	Instance types.String `tfsdk:"instance"`
}

type oidcToken struct {
	ServiceAccountEmail types.String `tfsdk:"service_account_email"`
	Audience            types.String `tfsdk:"audience"`
}

type oauthToken struct {
	ServiceAccountEmail types.String `tfsdk:"service_account_email"`
	Scope               types.String `tfsdk:"scope"`
}

type retryConfig struct {
	RetryCount         types.Int64    `tfsdk:"retry_count"`
	MaxRetryDuration   spelling.Value `tfsdk:"max_retry_duration"`
	MinBackoffDuration spelling.Value `tfsdk:"min_backoff_duration"`
	MaxBackoffDuration spelling.Value `tfsdk:"max_backoff_duration"`
	MaxDoublings       types.Int64    `tfsdk:"max_doublings"`
}

type deduplication struct {
	Mode           types.String   `tfsdk:"mode"`
	Store          types.String   `tfsdk:"store"`
	ManageTTL      types.Bool     `tfsdk:"manage_ttl"`
	Contract       types.String   `tfsdk:"contract"`
	RequestTimeout spelling.Value `tfsdk:"request_timeout"`
	Lease          spelling.Value `tfsdk:"lease"`
	RenewLease     types.Bool     `tfsdk:"renew_lease"`
	Retention      spelling.Value `tfsdk:"retention"`
	ForcedRuns     types.String   `tfsdk:"forced_runs"`
	RunScope       types.String   `tfsdk:"run_scope"`
	RunIDFormat    types.String   `tfsdk:"run_id_format"`
	MaxAttempts    types.Int64    `tfsdk:"max_attempts"`
	AtMostOnce     types.Bool     `tfsdk:"at_most_once"`
	Wait           types.Bool     `tfsdk:"wait"`
	Previous       types.List     `tfsdk:"previous"`
}

type previous struct {
	Store       types.String `tfsdk:"store"`
	RunIDFormat types.String `tfsdk:"run_id_format"`
	RunScope    types.String `tfsdk:"run_scope"`
	ForcedRuns  types.String `tfsdk:"forced_runs"`
	Until       types.String `tfsdk:"until"`
}

type handlerSpec struct {
	Kind      types.String `tfsdk:"kind"`
	Module    types.String `tfsdk:"module"`
	Package   types.String `tfsdk:"package"`
	OutputDir types.String `tfsdk:"output_dir"`
}

// jobName is where the job of the model is; its parts are known in every state.
func (m model) jobName() jobs.Name {
	return jobs.Name{Project: m.Project.ValueString(), Region: m.Region.ValueString(), Job: m.Name.ValueString()}
}

// only decodes a block that may be there once. Nil: it is not there, or, with unknown, it is not known whether it is.
func only[T any](list types.List, diags *diag.Diagnostics) (block *T, unknown bool) {
	if list.IsUnknown() {
		return nil, true
	}
	elements := list.Elements()
	if len(elements) == 0 {
		return nil, false
	}
	object, ok := elements[0].(types.Object)
	if !ok || object.IsUnknown() {
		return nil, true
	}
	decoded, err := fields.Read[T](object.Attributes())
	if err != nil {
		diags.Append(mismatch(err))
	}
	return &decoded, false
}

// listOf is a block that is there once, or not at all for nil, in the place of another list of such blocks.
func listOf[T any](replaced types.List, block *T, diags *diag.Diagnostics) types.List {
	row := replaced.ElementType(context.Background())
	blocks := []attr.Value{}
	if block != nil {
		layout, _ := row.(types.ObjectType)
		object, found := types.ObjectValue(layout.AttrTypes, fields.Write(*block))
		diags.Append(found...)
		blocks = append(blocks, object)
	}
	list, found := types.ListValue(row, blocks)
	diags.Append(found...)
	return list
}
