package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// spec reads a model as the domain sees it. What is no duration at all is an error here, and unknown to the domain.
func (m model) spec(now time.Time, diags *diag.Diagnostics) jobspec.Job {
	s := specReader{job: m.Name.ValueString(), diags: diags}
	return jobspec.Job{
		Name:            stringOf(m.Name),
		Project:         stringOf(m.Project),
		Region:          stringOf(m.Region),
		Description:     stringOf(m.Description),
		Schedule:        stringOf(m.Schedule),
		TimeZone:        stringOf(m.TimeZone.StringValue),
		AttemptDeadline: s.duration(m.AttemptDeadline, path.Root("attempt_deadline")),
		Paused:          boolOf(m.Paused),
		HTTP:            s.http(m.HTTPTarget),
		AppEngine:       s.appEngine(m.AppEngineTarget),
		Retry:           s.retry(m.RetryConfig),
		Deduplication:   s.deduplication(m.Deduplication),
		AcceptedRisks:   mapOf(m.AcceptedRisks),
		Now:             now,
	}
}

// specReader collects what cannot be read.
type specReader struct {
	job   string
	diags *diag.Diagnostics
}

func (s specReader) http(list types.List) jobspec.Value[jobspec.HTTPTarget] {
	target, unknown := only[httpTarget](list, s.diags)
	if target == nil {
		return absent[jobspec.HTTPTarget](unknown)
	}
	return jobspec.Known(jobspec.HTTPTarget{
		URI:        stringOf(target.URI.StringValue),
		Method:     stringOf(target.HTTPMethod),
		Body:       stringOf(target.Body.StringValue),
		BodyText:   stringOf(target.BodyText),
		Headers:    mapOf(target.Headers),
		HeadersWO:  mapOf(target.HeadersWO),
		OIDCToken:  s.oidc(target.OIDCToken),
		OAuthToken: s.oauth(target.OAuthToken),
	})
}

func (s specReader) appEngine(list types.List) jobspec.Value[jobspec.AppEngineTarget] {
	target, unknown := only[appEngineTarget](list, s.diags)
	if target == nil {
		return absent[jobspec.AppEngineTarget](unknown)
	}
	spec := jobspec.AppEngineTarget{
		RelativeURI: stringOf(target.RelativeURI),
		Method:      stringOf(target.HTTPMethod),
		Body:        stringOf(target.Body.StringValue),
		BodyText:    stringOf(target.BodyText),
		Headers:     mapOf(target.Headers),
		HeadersWO:   mapOf(target.HeadersWO),
	}
	routing, unknown := only[appEngineRouting](target.Routing, s.diags)
	if routing == nil {
		spec.Service, spec.Version, spec.Instance = absent[string](unknown), absent[string](unknown), absent[string](unknown)
	} else {
		spec.Service, spec.Version, spec.Instance = stringOf(routing.Service), stringOf(routing.Version), stringOf(routing.Instance)
	}
	return jobspec.Known(spec)
}

func (s specReader) oidc(list types.List) jobspec.Value[jobspec.OIDCToken] {
	token, unknown := only[oidcToken](list, s.diags)
	if token == nil {
		return absent[jobspec.OIDCToken](unknown)
	}
	return jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: stringOf(token.ServiceAccountEmail), Audience: stringOf(token.Audience)})
}

func (s specReader) oauth(list types.List) jobspec.Value[jobspec.OAuthToken] {
	token, unknown := only[oauthToken](list, s.diags)
	if token == nil {
		return absent[jobspec.OAuthToken](unknown)
	}
	if scope := token.Scope.ValueString(); !token.Scope.IsNull() && !token.Scope.IsUnknown() && !strings.HasPrefix(scope, "https://") {
		at := path.Root("http_target").AtListIndex(0).AtName("oauth_token").AtListIndex(0).AtName("scope")
		s.diags.AddAttributeError(at, fmt.Sprintf("%s of job %q: %q is not a scope", explain.Words(at), s.job, scope),
			"A scope says what the token allows.\n\nWrite the whole scope, or leave it out for "+cloudPlatformScope+".")
	}
	return jobspec.Known(jobspec.OAuthToken{ServiceAccountEmail: stringOf(token.ServiceAccountEmail), Scope: stringOf(token.Scope)})
}

func (s specReader) retry(list types.List) jobspec.Retry {
	block, unknown := only[retryConfig](list, s.diags)
	if block == nil {
		if !unknown {
			return jobspec.Retry{}
		}
		block = &retryConfig{
			RetryCount: types.Int64Unknown(), MaxDoublings: types.Int64Unknown(),
			MaxRetryDuration:   spelling.Unknown(spelling.Duration),
			MinBackoffDuration: spelling.Unknown(spelling.Duration),
			MaxBackoffDuration: spelling.Unknown(spelling.Duration),
		}
	}
	at := path.Root("retry_config").AtListIndex(0)
	return jobspec.Retry{
		Set:          true,
		Count:        intOf(block.RetryCount),
		MaxDuration:  s.duration(block.MaxRetryDuration, at.AtName("max_retry_duration")),
		MinBackoff:   s.duration(block.MinBackoffDuration, at.AtName("min_backoff_duration")),
		MaxBackoff:   s.duration(block.MaxBackoffDuration, at.AtName("max_backoff_duration")),
		MaxDoublings: intOf(block.MaxDoublings),
	}
}

func (s specReader) deduplication(list types.List) jobspec.Deduplication {
	block, unknown := only[deduplication](list, s.diags)
	if block == nil {
		if !unknown {
			return jobspec.Deduplication{}
		}
		block = unknownDeduplication()
	}
	at := path.Root("deduplication").AtListIndex(0)
	return jobspec.Deduplication{
		Set:            true,
		Mode:           stringOf(block.Mode),
		Store:          stringOf(block.Store),
		ManageTTL:      boolOf(block.ManageTTL),
		Contract:       stringOf(block.Contract),
		RequestTimeout: s.duration(block.RequestTimeout, at.AtName("request_timeout")),
		Lease:          s.duration(block.Lease, at.AtName("lease")),
		RenewLease:     boolOf(block.RenewLease),
		Retention:      s.duration(block.Retention, at.AtName("retention")),
		ForcedRuns:     stringOf(block.ForcedRuns),
		RunScope:       stringOf(block.RunScope),
		RunIDFormat:    stringOf(block.RunIDFormat),
		MaxAttempts:    intOf(block.MaxAttempts),
		AtMostOnce:     boolOf(block.AtMostOnce),
		Wait:           boolOf(block.Wait),
		Previous:       s.previous(block.Previous),
	}
}

func (s specReader) previous(list types.List) jobspec.Value[jobspec.Previous] {
	block, unknown := only[previous](list, s.diags)
	if block == nil {
		return absent[jobspec.Previous](unknown)
	}
	return jobspec.Known(jobspec.Previous{
		Store:       stringOf(block.Store),
		RunIDFormat: stringOf(block.RunIDFormat),
		RunScope:    stringOf(block.RunScope),
		ForcedRuns:  stringOf(block.ForcedRuns),
		Until:       stringOf(block.Until),
	})
}

func unknownDeduplication() *deduplication {
	text, flag, span := types.StringUnknown(), types.BoolUnknown(), spelling.Unknown(spelling.Duration)
	return &deduplication{
		Mode: text, Store: text, ManageTTL: flag, Contract: text, RequestTimeout: span, Lease: span, RenewLease: flag, Retention: span,
		ForcedRuns: text, RunScope: text, RunIDFormat: text, MaxAttempts: types.Int64Unknown(), AtMostOnce: flag, Wait: flag,
		Previous: types.ListUnknown(types.StringType), // only that it is unknown is read
	}
}

// duration reads a duration; text that is none is reported once and then treated as not yet known.
func (s specReader) duration(v spelling.Value, at path.Path) jobspec.Value[time.Duration] {
	if v.IsNull() || v.IsUnknown() {
		return absent[time.Duration](v.IsUnknown())
	}
	d, err := time.ParseDuration(v.ValueString())
	if err != nil {
		s.diags.AddAttributeError(at,
			fmt.Sprintf("%s of job %q is not a duration", explain.Words(at), s.job),
			fmt.Sprintf("%q cannot be read. Write a number and a unit, such as \"180s\", \"3m\" or \"1h30m\".", v.ValueString()))
		return jobspec.Unknown[time.Duration]()
	}
	return jobspec.Known(d)
}
