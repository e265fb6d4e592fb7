package scheduledjob

import (
	"cmp"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// targetFromAPI writes the target and the injected headers. A target of the other kind, which somebody put in the place of ours, is
// written as it is, so that the plan shows it.
func (m *model) targetFromAPI(job *schedulerpb.Job, hidden []string, diags *diag.Diagnostics) {
	var web *httpTarget
	var engine *appEngineTarget
	if live := job.GetHttpTarget(); live != nil {
		web = m.httpFromAPI(live, hidden, diags)
	}
	if live := job.GetAppEngineHttpTarget(); live != nil {
		engine = m.appEngineFromAPI(live, hidden, diags)
	}
	m.HTTPTarget = listOf(m.HTTPTarget, web, diags)
	m.AppEngineTarget = listOf(m.AppEngineTarget, engine, diags)
}

func (m *model) httpFromAPI(live *schedulerpb.HttpTarget, hidden []string, diags *diag.Diagnostics) *httpTarget {
	prior, _ := only[httpTarget](m.HTTPTarget, diags)
	if prior == nil {
		prior = &httpTarget{request: noRequest()}
	}
	next := &httpTarget{
		request:    prior.request,
		URI:        spelling.Of(spelling.Address, live.GetUri()),
		OIDCToken:  types.ListNull(objectOf(oidcTypes())),
		OAuthToken: types.ListNull(objectOf(oauthTypes())),
	}
	m.InjectedHeaders = next.fromAPI(live, hidden)

	var oidc *oidcToken
	if token := live.GetOidcToken(); token != nil {
		audience := cmp.Or(token.GetAudience(), live.GetUri())
		oidc = &oidcToken{ServiceAccountEmail: types.StringValue(token.GetServiceAccountEmail()), Audience: types.StringValue(audience)}
	}
	var oauth *oauthToken
	if token := live.GetOauthToken(); token != nil {
		scope := cmp.Or(token.GetScope(), cloudPlatformScope)
		oauth = &oauthToken{ServiceAccountEmail: types.StringValue(token.GetServiceAccountEmail()), Scope: types.StringValue(scope)}
	}
	next.OIDCToken = listOf(next.OIDCToken, oidc, diags)
	next.OAuthToken = listOf(next.OAuthToken, oauth, diags)
	return next
}

func (m *model) appEngineFromAPI(live *schedulerpb.AppEngineHttpTarget, hidden []string, diags *diag.Diagnostics) *appEngineTarget {
	prior, _ := only[appEngineTarget](m.AppEngineTarget, diags)
	if prior == nil {
		prior = &appEngineTarget{request: noRequest(), Routing: types.ListNull(objectOf(routingTypes()))}
	}
	next := &appEngineTarget{request: prior.request, RelativeURI: types.StringValue(live.GetRelativeUri())}
	m.InjectedHeaders = next.fromAPI(live, hidden)
	before, _ := only[appEngineRouting](prior.Routing, diags)
	next.Routing = listOf(prior.Routing, routingFromAPI(before, live.GetAppEngineRouting(), m.Project.ValueString()), diags)
	return next
}

// noRequest is the request of a target that was not there before.
func noRequest() request {
	return request{
		Body: spelling.Null(spelling.Base64), Headers: types.MapNull(types.StringType), HeadersWO: types.MapNull(types.StringType),
	}
}

// liveRequest is what both kinds of target have in common on the server.
type liveRequest interface {
	GetHttpMethod() schedulerpb.HttpMethod
	GetHeaders() map[string]string
	GetBody() []byte
}

// fromAPI writes the request over the one before and returns the headers that this provider had injected. A hidden header that is
// missing takes the version away, so that the plan sends it again.
func (r *request) fromAPI(live liveRequest, hidden []string) types.Map {
	r.HTTPMethod = types.StringValue(live.GetHttpMethod().String())
	r.Body, r.BodyText = bodyFromAPI(*r, live.GetBody())
	headers, complete := withoutHidden(live.GetHeaders(), hidden)
	own, injected := splitHeaders(headers, r.Headers)
	r.Headers = keepHeaders(r.Headers, own)
	if !complete {
		r.HeadersWOVersion = types.StringNull()
	}
	return injected
}

// bodyFromAPI keeps the way in which the body is written as long as the bytes are the same.
func bodyFromAPI(prior request, live []byte) (spelling.Value, types.String) {
	switch {
	case !prior.BodyText.IsNull() && utf8.Valid(live):
		return spelling.Null(spelling.Base64), types.StringValue(string(live))
	case len(live) == 0 && prior.Body.ValueString() == "":
		return prior.Body, types.StringNull()
	default:
		return spelling.Of(spelling.Base64, base64.StdEncoding.EncodeToString(live)), types.StringNull()
	}
}

// deadlineFromAPI writes the attempt deadline. Without one an App Engine target has the default of its service's scaling, ten minutes
// or a day, which the server may or may not say.
func (m *model) deadlineFromAPI(job *schedulerpb.Job) {
	live := job.GetAttemptDeadline()
	if job.GetAppEngineHttpTarget() == nil {
		if live != nil {
			m.AttemptDeadline = spelling.Of(spelling.Duration, fromProto(live))
		}
		return
	}
	unset := spelling.Duration.Same(m.AttemptDeadline.ValueString(), noDeadline)
	switch d := live.AsDuration(); {
	case unset && (d == 0 || d == 10*time.Minute || d == 24*time.Hour):
	case d == 0:
		m.AttemptDeadline = spelling.Of(spelling.Duration, noDeadline)
	default:
		m.AttemptDeadline = spelling.Of(spelling.Duration, fromProto(live))
	}
}

func objectOf(fields map[string]attr.Type) attr.Type { return types.ObjectType{AttrTypes: fields} }

func oidcTypes() map[string]attr.Type {
	return map[string]attr.Type{"service_account_email": types.StringType, "audience": types.StringType}
}

func oauthTypes() map[string]attr.Type {
	return map[string]attr.Type{"service_account_email": types.StringType, "scope": types.StringType}
}

func routingTypes() map[string]attr.Type {
	return map[string]attr.Type{"service": types.StringType, "version": types.StringType, "instance": types.StringType}
}
