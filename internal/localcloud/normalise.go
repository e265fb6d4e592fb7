package localcloud

import (
	"strings"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

const (
	defaultHTTPDeadline = 180 * time.Second
	defaultMinBackoff   = 5 * time.Second
	defaultMaxBackoff   = time.Hour
	defaultDoublings    = 5
	defaultScope        = "https://www.googleapis.com/auth/cloud-platform"

	headerUserAgent     = "User-Agent"
	headerAuthorization = "Authorization"
	headerContentType   = "Content-Type"
	userAgentHTTP       = "Google-Cloud-Scheduler"
	userAgentAppEngine  = "AppEngine-Google; (+http://code.google.com/appengine)"
)

// normalise fills in and rewrites what the real server fills in and rewrites, so that clients meet the same echoes here.
func normalise(job *schedulerpb.Job, project string) {
	if job.GetTimeZone() == "" {
		job.TimeZone = "Etc/UTC"
	}

	job.TimeZone = unixcron.CanonicalZone(job.GetTimeZone())

	if target := job.GetHttpTarget(); target != nil {
		normaliseHTTP(target)

		if job.GetAttemptDeadline().AsDuration() == 0 {
			job.AttemptDeadline = durationpb.New(defaultHTTPDeadline)
		}
	}

	if target := job.GetAppEngineHttpTarget(); target != nil {
		normaliseAppEngine(target, project)

		if job.GetAttemptDeadline().AsDuration() == 0 {
			job.AttemptDeadline = nil
		}
	}

	normaliseRetry(job)
}

func normaliseRetry(job *schedulerpb.Job) {
	if job.GetRetryConfig() == nil {
		job.RetryConfig = &schedulerpb.RetryConfig{}
	}

	retry := job.GetRetryConfig()

	if retry.GetMaxRetryDuration() == nil {
		retry.MaxRetryDuration = durationpb.New(0)
	}

	if retry.GetMaxBackoffDuration().AsDuration() == 0 {
		retry.MaxBackoffDuration = durationpb.New(defaultMaxBackoff)
	}

	if retry.GetMinBackoffDuration().AsDuration() == 0 {
		retry.MinBackoffDuration = durationpb.New(defaultMinBackoff)
	}

	if retry.GetMaxDoublings() == 0 {
		retry.MaxDoublings = defaultDoublings
	}
}

func normaliseHTTP(target *schedulerpb.HttpTarget) {
	if target.GetHttpMethod() == schedulerpb.HttpMethod_HTTP_METHOD_UNSPECIFIED {
		target.HttpMethod = schedulerpb.HttpMethod_POST
	}

	// A token whose fields were all cleared by a mask is no token.
	if token := target.GetOidcToken(); token != nil && proto.Size(token) == 0 {
		target.AuthorizationHeader = nil
	}

	if token := target.GetOauthToken(); token != nil && proto.Size(token) == 0 {
		target.AuthorizationHeader = nil
	}

	if token := target.GetOidcToken(); token != nil && token.GetAudience() == "" {
		token.Audience = target.GetUri()
	}

	if token := target.GetOauthToken(); token != nil && token.GetScope() == "" {
		token.Scope = defaultScope
	}

	if target.GetHeaders() == nil {
		target.Headers = map[string]string{}
	}

	setHeader(target.GetHeaders(), headerUserAgent, userAgentHTTP)

	if len(target.GetBody()) > 0 {
		defaultHeader(target.GetHeaders(), headerContentType, "application/octet-stream")
	}

	// The server names the header that it will add; the value is made for each delivery. The echo does not outlive the token.
	switch {
	case target.GetAuthorizationHeader() != nil:
		setHeader(target.GetHeaders(), headerAuthorization, "")
	case header(target.GetHeaders(), headerAuthorization) == "":
		delete(target.GetHeaders(), headerAuthorization)
	}
}

func normaliseAppEngine(target *schedulerpb.AppEngineHttpTarget, project string) {
	if target.GetHttpMethod() == schedulerpb.HttpMethod_HTTP_METHOD_UNSPECIFIED {
		target.HttpMethod = schedulerpb.HttpMethod_POST
	}

	if target.GetRelativeUri() == "" {
		target.RelativeUri = "/"
	}

	if target.GetHeaders() == nil {
		target.Headers = map[string]string{}
	}

	agent := header(target.GetHeaders(), headerUserAgent)
	if agent != "" && !strings.HasSuffix(agent, userAgentAppEngine) {
		agent += " "
	}

	setHeader(target.GetHeaders(), headerUserAgent, strings.TrimSuffix(agent, userAgentAppEngine)+userAgentAppEngine)

	if len(target.GetBody()) > 0 {
		defaultHeader(target.GetHeaders(), headerContentType, "application/octet-stream")
	}

	target.AppEngineRouting = routing(target.GetAppEngineRouting(), project)
}

// routing turns service, version and instance into the host, which is all that the real server gives back.
func routing(r *schedulerpb.AppEngineRouting, project string) *schedulerpb.AppEngineRouting {
	if r.GetHost() != "" && r.GetService() == "" && r.GetVersion() == "" && r.GetInstance() == "" {
		return r
	}

	host := project + ".appspot.com"
	for _, part := range []string{r.GetService(), r.GetVersion(), r.GetInstance()} {
		if part != "" {
			host = part + "." + host
		}
	}

	return &schedulerpb.AppEngineRouting{Host: host}
}

// header looks a name up, whatever its case.
func header(headers map[string]string, name string) string {
	for key, value := range headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}

	return ""
}

// setHeader replaces every spelling of a name.
func setHeader(headers map[string]string, name, value string) {
	for key := range headers {
		if strings.EqualFold(key, name) {
			delete(headers, key)
		}
	}

	headers[name] = value
}

func defaultHeader(headers map[string]string, name, value string) {
	for key := range headers {
		if strings.EqualFold(key, name) {
			return
		}
	}

	headers[name] = value
}
