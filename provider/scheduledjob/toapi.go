package scheduledjob

import (
	"encoding/base64"
	"fmt"
	"maps"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// toAPI is the job as the server keeps it. Defaults come from the effective attributes, so everything is sent explicitly and
// nothing depends on the server's own defaults. All values of the model are known.
func (m model) toAPI(diags *diag.Diagnostics) *schedulerpb.Job {
	job := &schedulerpb.Job{
		Name:            m.jobName().String(),
		Description:     m.Description.ValueString(),
		Schedule:        m.Schedule.ValueString(),
		TimeZone:        unixcron.CanonicalZone(m.TimeZone.ValueString()),
		AttemptDeadline: toProto(m.AttemptDeadline.StringValue),
		RetryConfig:     m.retryToAPI(),
	}
	if target, _ := only[httpTarget](m.HTTPTarget, diags); target != nil {
		job.Target = &schedulerpb.Job_HttpTarget{HttpTarget: target.toAPI(m.InjectedHeaders, diags)}
	}
	if target, _ := only[appEngineTarget](m.AppEngineTarget, diags); target != nil {
		job.Target = &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: target.toAPI(m.InjectedHeaders, diags)}
	}
	return job
}

func (m model) retryToAPI() *schedulerpb.RetryConfig {
	fields := m.EffectiveRetryConfig.Attributes()
	count := func(name string) int32 {
		n, _ := fields[name].(types.Int64)
		return int32(n.ValueInt64())
	}
	span := func(name string) *durationpb.Duration {
		text, _ := fields[name].(types.String)
		return toProto(text)
	}
	return &schedulerpb.RetryConfig{
		RetryCount:         count("retry_count"),
		MaxRetryDuration:   span("max_retry_duration"),
		MinBackoffDuration: span("min_backoff_duration"),
		MaxBackoffDuration: span("max_backoff_duration"),
		MaxDoublings:       count("max_doublings"),
	}
}

func (t httpTarget) toAPI(injected types.Map, diags *diag.Diagnostics) *schedulerpb.HttpTarget {
	target := &schedulerpb.HttpTarget{
		Uri:        t.URI.ValueString(),
		HttpMethod: t.method(),
		Headers:    t.headersToAPI(injected),
		Body:       t.bytes("http_target", diags),
	}
	if token, _ := only[oidcToken](t.OIDCToken, diags); token != nil {
		target.AuthorizationHeader = &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
			ServiceAccountEmail: token.ServiceAccountEmail.ValueString(), Audience: token.Audience.ValueString(),
		}}
	}
	if token, _ := only[oauthToken](t.OAuthToken, diags); token != nil {
		target.AuthorizationHeader = &schedulerpb.HttpTarget_OauthToken{OauthToken: &schedulerpb.OAuthToken{
			ServiceAccountEmail: token.ServiceAccountEmail.ValueString(), Scope: token.Scope.ValueString(),
		}}
	}
	return target
}

func (t appEngineTarget) toAPI(injected types.Map, diags *diag.Diagnostics) *schedulerpb.AppEngineHttpTarget {
	target := &schedulerpb.AppEngineHttpTarget{
		RelativeUri: t.RelativeURI.ValueString(),
		HttpMethod:  t.method(),
		Headers:     t.headersToAPI(injected),
		Body:        t.bytes("app_engine_http_target", diags),
	}
	if routing, _ := only[appEngineRouting](t.Routing, diags); routing != nil {
		target.AppEngineRouting = &schedulerpb.AppEngineRouting{
			Service: routing.Service.ValueString(), Version: routing.Version.ValueString(), Instance: routing.Instance.ValueString(),
		}
	}
	return target
}

func (r request) method() schedulerpb.HttpMethod {
	return schedulerpb.HttpMethod(schedulerpb.HttpMethod_value[r.HTTPMethod.ValueString()])
}

func (r request) headersToAPI(injected types.Map) map[string]string {
	headers := mapToAPI(r.Headers)
	maps.Copy(headers, mapToAPI(injected))
	return headers
}

// bytes is the request's body.
func (r request) bytes(block string, diags *diag.Diagnostics) []byte {
	if !r.BodyText.IsNull() {
		return []byte(r.BodyText.ValueString())
	}
	body, err := base64.StdEncoding.DecodeString(r.Body.ValueString())
	if err != nil {
		diags.AddAttributeError(path.Root(block).AtListIndex(0).AtName("body"), block+".body is not base64",
			fmt.Sprintf("%s. Use base64encode(), or body_text for plain text.", err))
	}
	return body
}

// mapToAPI copies a map of known strings; null is an empty one.
func mapToAPI(m types.Map) map[string]string {
	values := make(map[string]string, len(m.Elements()))
	for key, element := range m.Elements() {
		if text, ok := element.(types.String); ok {
			values[key] = text.ValueString()
		}
	}
	return values
}

// toProto reads a duration that was proved to be one. Nil: there is none.
func toProto(text types.String) *durationpb.Duration {
	d, err := time.ParseDuration(text.ValueString())
	if err != nil {
		return nil
	}
	return durationpb.New(d)
}
