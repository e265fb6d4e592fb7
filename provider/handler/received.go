package handler

import (
	"context"
	"fmt"
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

// webhook is what a handler of kind webhook receives.
type webhook struct {
	Source       types.String   `tfsdk:"source"`
	Events       types.List     `tfsdk:"events"`
	Secrets      types.List     `tfsdk:"secrets"`
	RetryHorizon spelling.Value `tfsdk:"retry_horizon"`
	Tolerance    spelling.Value `tfsdk:"tolerance"`
	OnConflict   types.String   `tfsdk:"on_conflict"`
}

// api is how a handler of kind api guards requests.
type api struct {
	Window             spelling.Value `tfsdk:"window"`
	TenantHeader       types.String   `tfsdk:"tenant_header"`
	KeyRequired        types.Bool     `tfsdk:"key_required"`
	Codes              types.Map      `tfsdk:"codes"`
	Statuses           types.Map      `tfsdk:"statuses"`
	CodeMember         types.String   `tfsdk:"code_member"`
	Lapse              types.String   `tfsdk:"lapse"`
	AcceptFailoverLoss types.Bool     `tfsdk:"accept_failover_loss"`
}

func duration(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, CustomType: spelling.Type{Kind: spelling.Duration}, MarkdownDescription: description,
		PlanModifiers: []planmodifier.String{spelling.Keep(spelling.Duration)},
	}
}

func webhookAttribute() schema.Attribute {
	texts := func(description string) schema.ListAttribute {
		return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "What a handler of kind `webhook` receives. Its jobs are those that drain the inbox, by its path `/drain`; " +
			"events themselves come from the sender.",
		Attributes: map[string]schema.Attribute{
			"source": text("The sender and its endpoint, in the identity of each event: keep it as long as the sender may retry. Unset: " +
				"the handler's name."),
			"events": texts("The types of events, as the field `type` of their payload has them, each with a function of its own. Unset: " +
				"one function for all."),
			"secrets": texts("The names of the environment variables that hold the sender's keys (`whsec_…`, `whpk_…`), which the service " +
				"takes from secrets of the platform's; several while a key is replaced. Unset: `" + generator.DefaultSecret + "`."),
			"retry_horizon": duration("For how long after its first delivery the sender may repeat an event, such as `76h`, the default. Done " +
				"events are kept longer than that."),
			"tolerance": duration("How far the time of a delivery may be from the clock. Unset: `5m`."),
			"on_conflict": text("What a delivery gets that has the id of another event with another body: `flag` (the default: it is " +
				"answered like a duplicate, logged and counted), `409` or `422`."),
		},
	}
}

func apiAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "How a handler of kind `api` guards requests that carry an `Idempotency-Key`.",
		Attributes: map[string]schema.Attribute{
			"window": duration("How long after its completion a request gets its answer again. Unset: `3h`."),
			"tenant_header": text("The request header that names the tenant, within which keys are unique; set by what stands before the " +
				"service and authenticates callers. Unset: a function of the program names it."),
			"key_required": schema.BoolAttribute{
				Optional: true, MarkdownDescription: "Whether a mutating request without a key is refused. Unset: true.",
			},
			"codes": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "The codes that errors have in their body, by the case (`reused`, `in_progress`, `key_too_long`, " +
					"`unavailable`, …), where an API has published others.",
			},
			"statuses": schema.MapAttribute{
				Optional: true, ElementType: types.Int64Type, MarkdownDescription: "Their HTTP statuses, likewise.",
			},
			"code_member": text("The name of the code in those bodies. Unset: `code`."),
			"lapse": text("What becomes of a key whose process died: `unknown` (the default: refused until somebody has looked), " +
				"`in_transaction` (run again, since its whole effect is in the transaction that completes the key) or `rerun`."),
			"accept_failover_loss": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Admits a store that may forget keys when it fails over, as Redis does: a request that is repeated after " +
					"that runs twice. Unset: false.",
			},
		},
	}
}

// parts are the specs of kinds webhook and api. Unknown: something of them is not known yet, and they are left out.
func (m model) parts(ctx context.Context, diags *diag.Diagnostics) (w *generator.Webhook, a *generator.API, unknown bool) {
	if !wholly(ctx, m.Webhook) || !wholly(ctx, m.API) {
		return nil, nil, true
	}
	if !m.Webhook.IsNull() {
		var part webhook
		diags.Append(m.Webhook.As(ctx, &part, objectOptions())...)
		spec := part.spec()
		w = &spec
	}
	if !m.API.IsNull() {
		var part api
		diags.Append(m.API.As(ctx, &part, objectOptions())...)
		spec := part.spec()
		a = &spec
	}
	return w, a, false
}

func (w webhook) spec() generator.Webhook {
	events, _ := textsOf(w.Events)
	secrets, _ := textsOf(w.Secrets)
	return generator.Webhook{
		Source: w.Source.ValueString(), Events: events, Secrets: secrets, RetryHorizon: orZero(w.RetryHorizon), Tolerance: orZero(w.Tolerance),
		OnConflict: w.OnConflict.ValueString(),
	}
}

func (a api) spec() generator.API {
	spec := generator.API{
		Window: orZero(a.Window), TenantHeader: a.TenantHeader.ValueString(), KeyOptional: !a.KeyRequired.IsNull() && !a.KeyRequired.ValueBool(),
		Codes: pairsOf(a.Codes), Statuses: map[string]int{}, CodeMember: a.CodeMember.ValueString(), Lapse: a.Lapse.ValueString(),
		AcceptFailoverLoss: a.AcceptFailoverLoss.ValueBool(),
	}
	for name, element := range a.Statuses.Elements() {
		if status, ok := element.(types.Int64); ok {
			spec.Statuses[name] = int(status.ValueInt64())
		}
	}
	return spec
}

// orZero is a duration that has been judged; zero when it is not there.
func orZero(v spelling.Value) time.Duration {
	d, _ := time.ParseDuration(v.ValueString())
	return d
}

// parts judges what the generator cannot: durations that are none, and attributes that the kind has no use for.
func (c checker) parts(m model) {
	for root, names := range map[string][]string{"webhook": {"retry_horizon", "tolerance"}, "api": {"window"}} {
		object := map[string]types.Object{"webhook": m.Webhook, "api": m.API}[root]
		for _, name := range names {
			v, ok := object.Attributes()[name].(spelling.Value)
			if !ok || v.IsNull() || v.IsUnknown() {
				continue
			}
			if _, err := time.ParseDuration(v.ValueString()); err != nil {
				c.refuse(path.Root(root).AtName(name), root+"."+name, fmt.Sprintf("%q is not a duration", v.ValueString()),
					"Write a number and a unit, such as \"90s\" or \"76h\".")
			}
		}
	}
	if m.Kind.IsUnknown() || generator.Schedules(m.Kind.ValueString()) {
		return
	}
	if v := m.Caller.ValueString(); m.Kind.ValueString() == kindWebhook && (v == callerCloudRunIAM || v == callerAppEngine) {
		c.refuse(path.Root("caller"), "caller", fmt.Sprintf("%q proves nothing here", v),
			"The service is open to its sender, who has no account, so that the platform lets everybody in.\n\nSet it to verify, or leave it out.")
	}
	unused := map[string]attr.Value{"region": m.Region, "previous": m.Previous}
	if m.Kind.ValueString() == kindAPI {
		unused["caller"], unused["audience"] = m.Caller, m.Audience
	}
	for name, value := range unused {
		list, isList := value.(types.List)
		if value.IsNull() || value.IsUnknown() || isList && len(list.Elements()) == 0 {
			continue
		}
		c.refuse(path.Root(name), name, "kind "+m.Kind.ValueString()+" has no use for it", "It is for handlers of scheduled jobs.\n\nLeave it out.")
	}
}
