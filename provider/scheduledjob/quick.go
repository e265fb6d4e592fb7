package scheduledjob

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/access"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/quick"
)

var _ quick.Type = Quick{}

// Quick answers for jobs without the framework. It asks the same functions as ValidateConfig and ModifyPlan, and answers only where
// the framework would add nothing to what they say.
type Quick struct {
	cloud func() *access.Access
}

// NewQuick makes one. cloud is what the provider block gave, nil as long as it has not been read.
func NewQuick(cloud func() *access.Access) Quick { return Quick{cloud: cloud} }

func (q Quick) resource() *Resource { return &Resource{cloud: q.cloud(), now: time.Now} }

// Layout is the type of jobs and of their identity.
func (Quick) Layout() (job, identity tftypes.Type) { return wire(), identityLayout.Wire() }

// Valid says whether a configuration is without fault.
func (q Quick) Valid(ctx context.Context, config tftypes.Value) bool {
	m, ok := plain(ctx, config)
	if !ok {
		return false
	}
	var diags diag.Diagnostics
	q.resource().validate(m, &diags)
	return len(diags) == 0
}

// New is the plan of a new job.
func (q Quick) New(ctx context.Context, config tftypes.Value) (tftypes.Value, bool) {
	planned, ok := q.plan(ctx, config, nil)
	return planned, ok
}

// Unchanged says whether the job stays as it is. Whether a pause was ours is kept where only the framework reads it.
func (q Quick) Unchanged(ctx context.Context, config, before tftypes.Value) bool {
	var diags diag.Diagnostics
	state := read(ctx, before, &diags)
	if len(diags) > 0 || state.State.ValueString() == updateFailed || state.Paused.ValueBool() {
		return false
	}
	planned, ok := q.plan(ctx, config, &state)
	return ok && planned.Equal(before)
}

func (q Quick) plan(ctx context.Context, config tftypes.Value, state *model) (tftypes.Value, bool) {
	written, ok := plain(ctx, config)
	r := q.resource()
	if !ok || r.cloud == nil {
		return tftypes.Value{}, false
	}
	// What a tool proposes is the configuration with what this resource computes, all of which is computed here anew.
	planned := written
	var diags diag.Diagnostics
	replace := r.fill(ctx, written, &planned, state, nil, &diags)
	raw := planned.raw(ctx, &diags)
	return raw, len(diags) == 0 && len(replace) == 0
}

// plain reads a configuration of which the framework itself has nothing to say: required values are there, blocks are there once at
// most, and nothing is write-only. Values of timeouts have validators of their own.
func plain(ctx context.Context, config tftypes.Value) (model, bool) {
	var diags diag.Diagnostics
	m := read(ctx, config, &diags)
	ok := len(diags) == 0 && !m.Name.IsNull() && !m.Schedule.IsNull() && m.Timeouts.IsNull() &&
		once(m.HTTPTarget, m.AppEngineTarget, m.RetryConfig, m.Deduplication, m.Handler)
	if !ok {
		return m, false
	}
	if web, _ := only[httpTarget](m.HTTPTarget, &diags); web != nil {
		ok = !web.URI.IsNull() && web.HeadersWO.IsNull() && once(web.OIDCToken, web.OAuthToken)
		if token, _ := only[oidcToken](web.OIDCToken, &diags); token != nil {
			ok = ok && !token.ServiceAccountEmail.IsNull()
		}
		if token, _ := only[oauthToken](web.OAuthToken, &diags); token != nil {
			ok = ok && !token.ServiceAccountEmail.IsNull()
		}
	}
	if engine, _ := only[appEngineTarget](m.AppEngineTarget, &diags); engine != nil {
		ok = ok && !engine.RelativeURI.IsNull() && engine.HeadersWO.IsNull() && once(engine.Routing)
	}
	if block, _ := only[deduplication](m.Deduplication, &diags); block != nil {
		ok = ok && once(block.Previous)
	}
	return m, ok && len(diags) == 0
}

// once says whether each block is there once at most. A tool writes one that is not there as an empty list, and the framework as well;
// null is for the framework to turn into one.
func once(blocks ...types.List) bool {
	for _, block := range blocks {
		if block.IsNull() || len(block.Elements()) > 1 {
			return false
		}
	}
	return true
}
