package localcloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

var (
	errNoAppEngine = errors.New("no App Engine address is configured")
	errPubsub      = errors.New("the local cloud stores Pub/Sub targets but does not deliver to them")
)

// request builds what a target is sent.
func (s *scheduler) request(ctx context.Context, try attempt) (*http.Request, error) {
	if target := try.job.GetHttpTarget(); target != nil {
		return s.httpRequest(ctx, try, target)
	}

	if target := try.job.GetAppEngineHttpTarget(); target != nil {
		return s.appEngineRequest(ctx, try, target)
	}

	return nil, errPubsub
}

func (s *scheduler) httpRequest(ctx context.Context, try attempt, target *schedulerpb.HttpTarget) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, target.GetHttpMethod().String(), target.GetUri(), bytes.NewReader(target.GetBody()))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}

	copyHeaders(req.Header, target.GetHeaders())
	req.Header[headerUserAgent] = []string{userAgentHTTP}
	s.mark(req, try)

	token, err := s.token(target)
	if err != nil {
		return nil, err
	}

	if token != "" {
		req.Header[headerAuthorization] = []string{"Bearer " + token}
	}

	return req, nil
}

func (s *scheduler) appEngineRequest(ctx context.Context, try attempt, target *schedulerpb.AppEngineHttpTarget) (*http.Request, error) {
	if s.cfg.AppEngine == "" {
		return nil, errNoAppEngine
	}

	uri := strings.TrimSuffix(s.cfg.AppEngine, "/") + target.GetRelativeUri()

	req, err := http.NewRequestWithContext(ctx, target.GetHttpMethod().String(), uri, bytes.NewReader(target.GetBody()))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}

	copyHeaders(req.Header, target.GetHeaders())
	req.Header[headerUserAgent] = []string{header(target.GetHeaders(), headerUserAgent)}
	// By this a service on App Engine knows that the request is no outsider's: App Engine takes such headers off what comes in.
	req.Header["X-AppEngine-QueueName"] = []string{"__scheduler"}
	s.mark(req, try)

	return req, nil
}

// mark adds what tells a handler which run the request is for, spelled as Cloud Scheduler spells it.
func (s *scheduler) mark(req *http.Request, try attempt) {
	name, _ := parseJobName(try.job.GetName())
	req.Header[run.HeaderScheduler] = []string{"true"}
	req.Header[run.HeaderJobName] = []string{name.job}

	if !try.at.IsZero() {
		req.Header[run.HeaderScheduleTime] = []string{try.at.UTC().Format(time.RFC3339)}
	}

	if s.cfg.Clock.Moved() {
		req.Header[run.HeaderClock] = []string{s.cfg.Clock.Now().UTC().Format(time.RFC3339Nano)}
	}
}

func (s *scheduler) token(target *schedulerpb.HttpTarget) (string, error) {
	switch {
	case target.GetOidcToken() != nil:
		return s.issuer.token(target.GetOidcToken().GetServiceAccountEmail(), target.GetOidcToken().GetAudience())
	case target.GetOauthToken() != nil:
		return s.issuer.accessToken(target.GetOauthToken().GetServiceAccountEmail(), target.GetOauthToken().GetScope())
	default:
		return "", nil
	}
}

// copyHeaders takes over a user's headers but those that Cloud Scheduler ignores or replaces.
func copyHeaders(into http.Header, headers map[string]string) {
	for name, value := range headers {
		if !isReplaced(name) {
			into[name] = []string{value}
		}
	}
}

func isReplaced(name string) bool {
	lower := strings.ToLower(name)

	switch lower {
	case "host", "content-length", "user-agent", "transfer-encoding", "connection":
		return true
	case "authorization":
		// Taken over only when the job has no token of its own, in which case it has a value.
		return false
	}

	for _, prefix := range []string{"x-google-", "x-appengine-", "x-cloudscheduler"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}

	return false
}

// withoutToken is a copy of a header that may be shown.
func withoutToken(h http.Header) http.Header {
	out := h.Clone()

	for name := range out {
		if strings.EqualFold(name, headerAuthorization) {
			out[name] = []string{"(not shown)"}
		}
	}

	return out
}

// breaking makes the connection of a request break some real time after the request was sent.
func breaking(ctx context.Context, cancel context.CancelCauseFunc, req *http.Request, after time.Duration) *http.Request {
	return req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) {
			time.AfterFunc(after, func() { cancel(errReset) })
		},
	}))
}

// judge says what the scheduler makes of an exchange. Every 2xx is success.
func judge(ctx context.Context, ans answer, err error) verdict {
	if err == nil {
		return verdict{status: ans.status, code: codeOf(ans.status)}
	}

	if errors.Is(err, errLostReply) {
		return verdict{code: codes.Unavailable, err: err}
	}

	// The cause says more than the client's error, which only knows that it was cancelled.
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}

	if errors.Is(err, errDeadline) {
		return verdict{code: codes.DeadlineExceeded, err: err}
	}

	return verdict{code: codes.Unavailable, err: err}
}

// codeOf is the RPC code by which the status field of a job reports an HTTP status.
func codeOf(status int) codes.Code {
	switch {
	case status >= 200 && status <= 299:
		return codes.OK
	case status == http.StatusBadRequest:
		return codes.InvalidArgument
	case status == http.StatusUnauthorized:
		return codes.Unauthenticated
	case status == http.StatusForbidden:
		return codes.PermissionDenied
	case status == http.StatusNotFound:
		return codes.NotFound
	case status == http.StatusConflict:
		return codes.Aborted
	case status == http.StatusTooManyRequests:
		return codes.ResourceExhausted
	case status == http.StatusNotImplemented:
		return codes.Unimplemented
	case status == http.StatusServiceUnavailable, status == http.StatusBadGateway:
		return codes.Unavailable
	case status == http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	case status >= 500:
		return codes.Internal
	default:
		return codes.Unknown
	}
}
