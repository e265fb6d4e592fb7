package localcloud

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// The limits of the service, from its published quotas and the comments of its API.
const (
	longestDescription = 500
	longestURI         = 2083
	largestRetryCount  = 5
	largestDoublings   = 16
	shortestDeadline   = 15 * time.Second
	longestHTTP        = 30 * time.Minute
	longestAppEngine   = 24*time.Hour + 15*time.Second
)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// validate refuses a job that the API would refuse. The job has been normalised.
func validate(job *schedulerpb.Job, project string) error {
	if n := contentOf(job).Size(); n > jobspec.MaxSize {
		return invalid("The job has %d bytes. It must not be larger than %d.", n, jobspec.MaxSize)
	}

	if n := utf8.RuneCountInString(job.GetDescription()); n > longestDescription {
		return invalid("Job.description has %d characters. It must not be longer than %d.", n, longestDescription)
	}

	err := validateTarget(job, project)
	if err != nil {
		return err
	}

	err = validateDeadline(job)
	if err != nil {
		return err
	}

	return validateRetry(job.GetRetryConfig())
}

// contentOf is what of a job counts towards its size.
func contentOf(job *schedulerpb.Job) jobspec.Content {
	web, app, topic := job.GetHttpTarget(), job.GetAppEngineHttpTarget(), job.GetPubsubTarget()
	content := jobspec.Content{
		Texts: []string{
			job.GetName(), job.GetDescription(), job.GetSchedule(), job.GetTimeZone(), web.GetUri(), app.GetRelativeUri(), topic.GetTopicName(),
			web.GetOidcToken().GetServiceAccountEmail(), web.GetOauthToken().GetServiceAccountEmail(),
		},
		Body: len(web.GetBody()) + len(app.GetBody()) + len(topic.GetData()),
	}

	switch {
	case web != nil:
		content.Headers = web.GetHeaders()
	case app != nil:
		content.Headers = app.GetHeaders()
	default:
		content.Headers = topic.GetAttributes()
	}

	return content
}

func validateTarget(job *schedulerpb.Job, project string) error {
	switch {
	case job.GetHttpTarget() != nil:
		return validateHTTP(job.GetHttpTarget(), project)
	case job.GetAppEngineHttpTarget() != nil:
		return validateAppEngine(job.GetAppEngineHttpTarget())
	case job.GetPubsubTarget() != nil:
		if !strings.HasPrefix(job.GetPubsubTarget().GetTopicName(), "projects/") {
			return invalid(`PubsubTarget.topic_name must be formatted: "projects/<PROJECT_ID>/topics/<TOPIC_ID>".`)
		}

		if len(job.GetPubsubTarget().GetData()) == 0 && len(job.GetPubsubTarget().GetAttributes()) == 0 {
			return invalid("Pub/Sub message must contain either non-empty data, or at least one attribute.")
		}

		return nil
	default:
		return invalid("Job.target is required: one of http_target, app_engine_http_target and pubsub_target.")
	}
}

func validateHTTP(target *schedulerpb.HttpTarget, project string) error {
	uri := target.GetUri()

	parsed, err := url.Parse(uri)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return invalid(`HttpTarget.uri must begin with "http://" or "https://" and name a host.`)
	}

	if n := len(parsed.String()); n > longestURI {
		return invalid("HttpTarget.uri has %d characters after encoding. It must not be longer than %d.", n, longestURI)
	}

	withBody := []schedulerpb.HttpMethod{schedulerpb.HttpMethod_POST, schedulerpb.HttpMethod_PUT, schedulerpb.HttpMethod_PATCH}
	if len(target.GetBody()) > 0 && !slices.Contains(withBody, target.GetHttpMethod()) {
		return invalid("HttpTarget.body is only allowed with the methods POST, PUT and PATCH.")
	}

	err = validateHeaders("HttpTarget", target.GetHeaders())
	if err != nil {
		return err
	}

	switch {
	case target.GetOidcToken() != nil:
		return validateAccount("HttpTarget.oidc_token", target.GetOidcToken().GetServiceAccountEmail(), project)
	case target.GetOauthToken() != nil:
		return validateAccount("HttpTarget.oauth_token", target.GetOauthToken().GetServiceAccountEmail(), project)
	}

	return nil
}

func validateAppEngine(target *schedulerpb.AppEngineHttpTarget) error {
	uri := target.GetRelativeUri()
	if !strings.HasPrefix(uri, "/") || strings.Contains(uri, " ") || len(uri) > longestURI {
		return invalid(`AppEngineHttpTarget.relative_uri must begin with "/", hold no white space and be at most %d characters long.`,
			longestURI)
	}

	method := target.GetHttpMethod()
	if method == schedulerpb.HttpMethod_PATCH || method == schedulerpb.HttpMethod_OPTIONS {
		return invalid("AppEngineHttpTarget.http_method must not be %s.", method)
	}

	if len(target.GetBody()) > 0 && method != schedulerpb.HttpMethod_POST && method != schedulerpb.HttpMethod_PUT {
		return invalid("AppEngineHttpTarget.body is only allowed with the methods POST and PUT.")
	}

	return validateHeaders("AppEngineHttpTarget", target.GetHeaders())
}

func validateHeaders(target string, headers map[string]string) error {
	for name, value := range headers {
		if !isToken(name) {
			return invalid("%s.headers has the name %q, which is no HTTP header name.", target, name)
		}

		if strings.ContainsAny(value, "\r\n\x00") {
			return invalid("%s.headers has a value for %q that holds a line break or a zero byte.", target, name)
		}
	}

	if size := jobspec.HeaderSize(headers); size >= jobspec.MaxHeaders {
		return invalid("%s.headers has %d bytes. The total size of headers must be less than 80 KB.", target, size)
	}

	return nil
}

// isToken follows the grammar of field names in RFC 9110, section 5.6.2.
func isToken(name string) bool {
	const punctuation = "!#$%&'*+-.^_`|~"

	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		letter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')

		return !letter && !strings.ContainsRune(punctuation, r)
	}) < 0
}

// validateAccount refuses accounts of another project. Addresses of other forms say nothing about their project.
func validateAccount(field, email, project string) error {
	name, domain, found := strings.Cut(email, "@")
	if !found || name == "" || domain == "" {
		return invalid("%s.service_account_email %q must be the address of a service account.", field, email)
	}

	owner, found := strings.CutSuffix(domain, ".iam.gserviceaccount.com")
	if !found {
		return nil
	}

	// A domain-scoped project example.com:proj is written proj.example.com in the address.
	if scope, id, scoped := strings.Cut(project, ":"); scoped {
		project = id + "." + scope
	}

	if strings.HasPrefix(owner, "gcp-sa-") || owner == project {
		return nil
	}

	return status.Error(codes.PermissionDenied, lacksPermission("iam.serviceAccounts.actAs", email))
}

func validateDeadline(job *schedulerpb.Job) error {
	longest, deadline := longestHTTP, job.GetAttemptDeadline()

	switch {
	case job.GetPubsubTarget() != nil, deadline == nil:
		return nil
	case job.GetAppEngineHttpTarget() != nil:
		longest = longestAppEngine
	}

	if deadline.CheckValid() != nil || deadline.AsDuration() < shortestDeadline || deadline.AsDuration() > longest {
		return invalid("Job.attempt_deadline must be between %ds and %ds.", int(shortestDeadline.Seconds()), int(longest.Seconds()))
	}

	return nil
}

func validateRetry(retry *schedulerpb.RetryConfig) error {
	if n := retry.GetRetryCount(); n < 0 || n > largestRetryCount {
		return invalid("RetryConfig.retry_count must be between 0 and %d.", largestRetryCount)
	}

	if n := retry.GetMaxDoublings(); n < 0 || n > largestDoublings {
		return invalid("RetryConfig.max_doublings must be between 0 and %d.", largestDoublings)
	}

	for _, d := range []struct {
		field string
		value *durationpb.Duration
	}{
		{"max_retry_duration", retry.GetMaxRetryDuration()},
		{"min_backoff_duration", retry.GetMinBackoffDuration()},
		{"max_backoff_duration", retry.GetMaxBackoffDuration()},
	} {
		if d.value != nil && (d.value.CheckValid() != nil || d.value.AsDuration() < 0) {
			return invalid("RetryConfig.%s must be a duration that is not negative.", d.field)
		}
	}

	if retry.GetMinBackoffDuration().AsDuration() > retry.GetMaxBackoffDuration().AsDuration() {
		return invalid("RetryConfig.min_backoff_duration must not be longer than max_backoff_duration.")
	}

	return nil
}
