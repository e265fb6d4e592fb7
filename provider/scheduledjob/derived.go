package scheduledjob

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// complete judges a plan and fills in what follows from it: every computed attribute but state and paused. Values that follow from
// something unknown are unknown; Terraform plans again during apply, when all is known. config is the same object as people wrote
// it: what follows is derived from it alone, never from values that were derived before.
func (m *model) complete(config model, now time.Time, version string) diag.Diagnostics {
	var diags diag.Diagnostics
	config.Project, config.Region = m.Project, m.Region
	spec := config.spec(now, &diags)
	derived := jobspec.Derive(spec)
	diags.Append(report(jobspec.Check(spec), true)...)
	m.fillDerived(config, spec, derived, &diags)
	m.fillHandler(version, derived, &diags)
	return diags
}

// fillDerived writes derived values into the computed attributes.
func (m *model) fillDerived(config model, spec jobspec.Job, derived jobspec.Derived, diags *diag.Diagnostics) {
	m.ID = toString(fullName(m))
	switch {
	case !config.AttemptDeadline.IsNull():
	case spec.AppEngine.IsKnown():
		// The domain reckons with the longest there is; what is asked for is the default of the service's scaling.
		m.AttemptDeadline = spelling.Of(spelling.Duration, noDeadline)
	default:
		m.AttemptDeadline = spelling.From(spelling.Duration, toDuration(derived.AttemptDeadline))
	}
	m.EffectiveRetryConfig = effectiveRetry(derived.Retry)
	m.EffectiveDeduplication = effectiveDeduplication(derived)
	m.RetrySchedule = retrySchedule(derived)
	m.InjectedHeaders = toMap(derived.Headers)
	m.fillTarget(config, derived.Audience, diags)
}

// noDeadline leaves the attempt deadline of an App Engine target to the service's scaling.
const noDeadline = "0s"

// fillTarget fills in what people left out of the target: the method, the token's audience and its scope.
func (m *model) fillTarget(config model, audience jobspec.Value[string], diags *diag.Diagnostics) {
	if written, _ := only[httpTarget](config.HTTPTarget, diags); written != nil {
		if target, _ := only[httpTarget](m.HTTPTarget, diags); target != nil {
			target.fill(*written, audience, diags)
			m.HTTPTarget = listOf(m.HTTPTarget, target, diags)
		}
	}
	if written, _ := only[appEngineTarget](config.AppEngineTarget, diags); written != nil && written.HTTPMethod.IsNull() {
		if target, _ := only[appEngineTarget](m.AppEngineTarget, diags); target != nil {
			target.HTTPMethod = types.StringValue(defaultMethod)
			m.AppEngineTarget = listOf(m.AppEngineTarget, target, diags)
		}
	}
}

// defaultMethod is the method of a request that names none.
const defaultMethod = "POST"

func (t *httpTarget) fill(written httpTarget, audience jobspec.Value[string], diags *diag.Diagnostics) {
	if written.HTTPMethod.IsNull() {
		t.HTTPMethod = types.StringValue(defaultMethod)
	}
	if oidc, _ := only[oidcToken](written.OIDCToken, diags); oidc != nil && oidc.Audience.IsNull() {
		if token, _ := only[oidcToken](t.OIDCToken, diags); token != nil {
			token.Audience = toString(audience)
			t.OIDCToken = listOf(t.OIDCToken, token, diags)
		}
	}
	if oauth, _ := only[oauthToken](written.OAuthToken, diags); oauth != nil && oauth.Scope.IsNull() {
		if token, _ := only[oauthToken](t.OAuthToken, diags); token != nil {
			token.Scope = types.StringValue(cloudPlatformScope)
			t.OAuthToken = listOf(t.OAuthToken, token, diags)
		}
	}
}

// fullName is the id, known when its parts are.
func fullName(m *model) jobspec.Value[string] {
	if m.Project.IsUnknown() || m.Region.IsUnknown() || m.Name.IsUnknown() {
		return jobspec.Unknown[string]()
	}
	return jobspec.Known(m.jobName().String())
}

func effectiveRetry(retry jobspec.EffectiveRetry) types.Object {
	return types.ObjectValueMust(effectiveRetryTypes(), map[string]attr.Value{
		"retry_count":          toInt(retry.Count),
		"max_retry_duration":   toDuration(retry.MaxDuration),
		"min_backoff_duration": toDuration(retry.MinBackoff),
		"max_backoff_duration": toDuration(retry.MaxBackoff),
		"max_doublings":        toInt(retry.MaxDoublings),
	})
}

func effectiveDeduplication(derived jobspec.Derived) types.Object {
	d := derived.Deduplication
	return types.ObjectValueMust(effectiveDeduplicationTypes(), map[string]attr.Value{
		"mode":            toString(derived.Mode),
		"store":           toString(d.Store),
		"manage_ttl":      toBool(d.ManageTTL),
		"ttl_policy":      toString(ttlPolicy(d.Store, d.ManageTTL)),
		"request_timeout": toDuration(d.RequestTimeout),
		"lease":           toDuration(d.Lease),
		"renew_lease":     toBool(d.RenewLease),
		"retention":       toDuration(d.Retention),
		"forced_runs":     toString(d.ForcedRuns),
		"run_scope":       toString(d.RunScope),
		"run_id_format":   toString(d.RunIDFormat),
		"max_attempts":    toInt(d.MaxAttempts),
		"at_most_once":    toBool(d.AtMostOnce),
		"wait":            toBool(d.Wait),
	})
}

// unmanaged is the policy of a store that has none to manage, or whose policy is left to others.
const unmanaged = "unmanaged"

// ttlPolicy is what the plan wants of the collection's expiry policy.
func ttlPolicy(store jobspec.Value[string], manage jobspec.Value[bool]) jobspec.Value[string] {
	if managed, ok := manage.Get(); ok && !managed {
		return jobspec.Known(unmanaged)
	}
	url, ok := store.Get()
	switch _, firestore := ttl.ParseStore(url); {
	case ok && !firestore:
		return jobspec.Known(unmanaged)
	case !ok || manage.IsUnknown():
		return jobspec.Unknown[string]()
	default:
		return jobspec.Known(string(ttl.Ensured))
	}
}

// retrySchedule is the timetable of a run, unknown while what it follows from is.
func retrySchedule(derived jobspec.Derived) types.List {
	row := types.ObjectType{AttrTypes: attemptTypes()}
	timetable := derived.Timetable()
	if timetable == nil {
		return types.ListUnknown(row)
	}
	rows := make([]attr.Value, 0, len(timetable))
	for _, attempt := range timetable {
		rows = append(rows, types.ObjectValueMust(attemptTypes(), map[string]attr.Value{
			"attempt":     types.Int64Value(int64(attempt.Number)),
			"earliest":    types.StringValue(seconds(attempt.Earliest)),
			"latest":      types.StringValue(seconds(attempt.Latest)),
			"lease_end":   types.StringValue(seconds(attempt.LeaseEnd)),
			"after_lease": types.BoolValue(attempt.AfterLease),
		}))
	}
	return types.ListValueMust(row, rows)
}
