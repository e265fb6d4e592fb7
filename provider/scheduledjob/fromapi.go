package scheduledjob

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

// States of a job as the attribute state shows them.
const updateFailed = "UPDATE_FAILED"

// fromAPI writes into the state what the server says. What means the same as before keeps its spelling; what the server adds by
// itself (User-Agent, Authorization, a default Content-Type) is no part of the state.
func (m *model) fromAPI(ctx context.Context, name jobs.Name, job *schedulerpb.Job, diags *diag.Diagnostics) {
	m.ID = types.StringValue(name.String())
	m.Project, m.Region, m.Name = types.StringValue(name.Project), types.StringValue(name.Region), types.StringValue(name.Job)
	m.Description = keepNull(m.Description, job.GetDescription())
	m.Schedule = types.StringValue(job.GetSchedule())
	m.TimeZone = spelling.Of(spelling.Zone, job.GetTimeZone())
	if deadline := job.GetAttemptDeadline(); deadline != nil {
		m.AttemptDeadline = spelling.Of(spelling.Duration, fromProto(deadline))
	}
	m.stateFromAPI(job)
	if job.GetHttpTarget() == nil {
		diags.AddAttributeError(path.Root("http_target"), fmt.Sprintf("Job %q has no HTTP target", name.Job),
			"Its target on the server is of another kind, which this resource does not manage.")
		return
	}
	m.targetFromAPI(ctx, job.GetHttpTarget(), diags)
	m.retryFromAPI(ctx, job.GetRetryConfig(), diags)
}

// stateFromAPI writes state and paused. A job whose update failed is neither paused nor running by that alone.
func (m *model) stateFromAPI(job *schedulerpb.Job) {
	m.State = types.StringValue(job.GetState().String())
	if job.GetState() != schedulerpb.Job_UPDATE_FAILED || m.Paused.IsNull() {
		m.Paused = types.BoolValue(job.GetState() == schedulerpb.Job_PAUSED)
	}
}

func (m *model) targetFromAPI(ctx context.Context, live *schedulerpb.HttpTarget, diags *diag.Diagnostics) {
	prior, _ := only[httpTarget](ctx, m.HTTPTarget, diags)
	if prior == nil {
		prior = &httpTarget{Body: spelling.Null(spelling.Base64), Headers: types.MapNull(types.StringType)}
	}
	next := httpTarget{
		URI:        spelling.Of(spelling.Address, live.GetUri()),
		HTTPMethod: types.StringValue(live.GetHttpMethod().String()),
		OIDCToken:  types.ListNull(tokenType(oidcTypes())),
		OAuthToken: types.ListNull(tokenType(oauthTypes())),
	}
	next.Body, next.BodyText = bodyFromAPI(*prior, live.GetBody())
	own, injected := splitHeaders(live, prior.Headers)
	next.Headers = keepHeaders(prior.Headers, own)
	m.InjectedHeaders = injected

	var oidc *oidcToken
	if token := live.GetOidcToken(); token != nil {
		audience := token.GetAudience()
		if audience == "" {
			audience = live.GetUri()
		}
		oidc = &oidcToken{ServiceAccountEmail: types.StringValue(token.GetServiceAccountEmail()), Audience: types.StringValue(audience)}
	}
	var oauth *oauthToken
	if token := live.GetOauthToken(); token != nil {
		scope := token.GetScope()
		if scope == "" {
			scope = cloudPlatformScope
		}
		oauth = &oauthToken{ServiceAccountEmail: types.StringValue(token.GetServiceAccountEmail()), Scope: types.StringValue(scope)}
	}
	next.OIDCToken = listOf(ctx, tokenType(oidcTypes()), oidc, diags)
	next.OAuthToken = listOf(ctx, tokenType(oauthTypes()), oauth, diags)
	m.HTTPTarget = listOf(ctx, m.HTTPTarget.ElementType(ctx), &next, diags)
}

// bodyFromAPI keeps the way in which the body is written as long as the bytes are the same.
func bodyFromAPI(prior httpTarget, live []byte) (spelling.Value, types.String) {
	switch {
	case !prior.BodyText.IsNull() && utf8.Valid(live):
		return spelling.Null(spelling.Base64), types.StringValue(string(live))
	case len(live) == 0 && prior.Body.ValueString() == "":
		return prior.Body, types.StringNull()
	default:
		return spelling.Of(spelling.Base64, base64.StdEncoding.EncodeToString(live)), types.StringNull()
	}
}

// injectedPrefix begins the names of the headers that this provider adds, in canonical form.
const injectedPrefix = "X-Idempotent-"

// splitHeaders separates people's headers from the injected ones, and leaves out what the server adds.
func splitHeaders(live *schedulerpb.HttpTarget, prior types.Map) (own, injected types.Map) {
	theirs, ours := map[string]attr.Value{}, map[string]attr.Value{}
	written := map[string]bool{}
	for key := range prior.Elements() {
		written[textproto.CanonicalMIMEHeaderKey(key)] = true
	}
	for key, value := range live.GetHeaders() {
		switch canonical := textproto.CanonicalMIMEHeaderKey(key); {
		case strings.HasPrefix(canonical, injectedPrefix):
			ours[canonical] = types.StringValue(value)
		case written[canonical]:
			theirs[key] = types.StringValue(value)
		case canonical == "User-Agent", canonical == "Authorization", canonical == "Content-Length", canonical == "Host",
			canonical == "Content-Type" && value == "application/octet-stream":
		default:
			theirs[key] = types.StringValue(value)
		}
	}
	return types.MapValueMust(types.StringType, theirs), types.MapValueMust(types.StringType, ours)
}

// keepHeaders is prior as long as live holds the same headers, however their names are written.
func keepHeaders(prior, live types.Map) types.Map {
	if len(live.Elements()) == 0 && len(prior.Elements()) == 0 {
		return prior
	}
	before, after := canonicalHeaders(prior), canonicalHeaders(live)
	if len(before) != len(after) {
		return live
	}
	for key, value := range before {
		if after[key] != value {
			return live
		}
	}
	return prior
}

func canonicalHeaders(m types.Map) map[string]string {
	headers := map[string]string{}
	for key, value := range mapToAPI(m) {
		headers[textproto.CanonicalMIMEHeaderKey(key)] = value
	}
	return headers
}

// keepNull is a text that the server reports as empty when there is none.
func keepNull(prior types.String, live string) types.String {
	if live == "" && prior.ValueString() == "" {
		return prior
	}
	return types.StringValue(live)
}

func tokenType(fields map[string]attr.Type) attr.Type { return types.ObjectType{AttrTypes: fields} }

func oidcTypes() map[string]attr.Type {
	return map[string]attr.Type{"service_account_email": types.StringType, "audience": types.StringType}
}

func oauthTypes() map[string]attr.Type {
	return map[string]attr.Type{"service_account_email": types.StringType, "scope": types.StringType}
}

func fromProto(d *durationpb.Duration) string { return seconds(d.AsDuration()) }
