package scheduledjob

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
)

// incumbent is the state of google_cloud_scheduler_job, as far as it matters here. Attributes that are null or missing are empty.
type incumbent struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Project         string  `json:"project"`
	Region          string  `json:"region"`
	Description     string  `json:"description"`
	Schedule        string  `json:"schedule"`
	TimeZone        string  `json:"time_zone"`
	AttemptDeadline string  `json:"attempt_deadline"`
	Paused          bool    `json:"paused"`
	State           string  `json:"state"`
	DeletionPolicy  string  `json:"deletion_policy"`
	PubSubTarget    []any   `json:"pubsub_target"`
	Retry           []retry `json:"retry_config"`

	HTTPTarget []struct {
		incumbentRequest

		URI   string           `json:"uri"`
		OIDC  []incumbentToken `json:"oidc_token"`
		OAuth []incumbentToken `json:"oauth_token"`
	} `json:"http_target"`
	AppEngineTarget []struct {
		incumbentRequest

		RelativeURI string `json:"relative_uri"`
		Routing     []struct {
			Service  string `json:"service"`
			Version  string `json:"version"`
			Instance string `json:"instance"`
		} `json:"app_engine_routing"`
	} `json:"app_engine_http_target"`

	Timeouts map[string]*string `json:"timeouts"`
}

type incumbentRequest struct {
	HTTPMethod string            `json:"http_method"`
	Body       string            `json:"body"`
	Headers    map[string]string `json:"headers"`
}

type incumbentToken struct {
	ServiceAccountEmail string `json:"service_account_email"`
	Audience            string `json:"audience"`
	Scope               string `json:"scope"`
}

type retry struct {
	RetryCount         int32  `json:"retry_count"`
	MaxRetryDuration   string `json:"max_retry_duration"`
	MinBackoffDuration string `json:"min_backoff_duration"`
	MaxBackoffDuration string `json:"max_backoff_duration"`
	MaxDoublings       int32  `json:"max_doublings"`
}

// jobName is where the job is: its id, or the attributes that it is made of.
func (s incumbent) jobName() (jobs.Name, error) {
	return jobs.ParseName(cmp.Or(s.ID, s.Name), s.Project, s.Region)
}

// deletionPolicy is the one of the same meaning; the incumbent's later versions have one too.
func (s incumbent) deletionPolicy() string {
	if slices.Contains([]string{deletionAbandon, deletionPrevent}, s.DeletionPolicy) {
		return s.DeletionPolicy
	}
	return deletionDelete
}

// toAPI is the job as the server reports it.
func (s incumbent) toAPI() (*schedulerpb.Job, error) {
	job := &schedulerpb.Job{
		Description: s.Description, Schedule: s.Schedule, TimeZone: cmp.Or(s.TimeZone, "Etc/UTC"), State: schedulerpb.Job_ENABLED,
	}
	if state, ok := schedulerpb.Job_State_value[s.State]; ok && state != 0 {
		job.State = schedulerpb.Job_State(state)
	}
	if s.Paused {
		job.State = schedulerpb.Job_PAUSED
	}
	var err error
	if job.AttemptDeadline, err = optional(s.AttemptDeadline); err != nil {
		return nil, fmt.Errorf("attempt_deadline %w", err)
	}
	if job.RetryConfig, err = s.retryToAPI(); err != nil {
		return nil, fmt.Errorf("retry_config.%w", err)
	}
	return job, s.targetToAPI(job)
}

func (s incumbent) targetToAPI(job *schedulerpb.Job) error {
	for _, target := range s.HTTPTarget {
		body, err := base64.StdEncoding.DecodeString(target.Body)
		if err != nil {
			return fmt.Errorf("http_target.body is not base64: %w", err)
		}
		live := &schedulerpb.HttpTarget{Uri: target.URI, HttpMethod: target.method(), Headers: target.Headers, Body: body}
		for _, token := range target.OIDC {
			live.AuthorizationHeader = &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
				ServiceAccountEmail: token.ServiceAccountEmail, Audience: token.Audience,
			}}
		}
		for _, token := range target.OAuth {
			live.AuthorizationHeader = &schedulerpb.HttpTarget_OauthToken{OauthToken: &schedulerpb.OAuthToken{
				ServiceAccountEmail: token.ServiceAccountEmail, Scope: token.Scope,
			}}
		}
		job.Target = &schedulerpb.Job_HttpTarget{HttpTarget: live}
	}
	for _, target := range s.AppEngineTarget {
		body, err := base64.StdEncoding.DecodeString(target.Body)
		if err != nil {
			return fmt.Errorf("app_engine_http_target.body is not base64: %w", err)
		}
		live := &schedulerpb.AppEngineHttpTarget{
			RelativeUri: target.RelativeURI, HttpMethod: target.method(), Headers: target.Headers, Body: body,
		}
		for _, routing := range target.Routing {
			live.AppEngineRouting = &schedulerpb.AppEngineRouting{
				Service: routing.Service, Version: routing.Version, Instance: routing.Instance,
			}
		}
		job.Target = &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: live}
	}
	return nil
}

// method is the request's method; a missing one is the server's default.
func (r incumbentRequest) method() schedulerpb.HttpMethod {
	method := schedulerpb.HttpMethod(schedulerpb.HttpMethod_value[r.HTTPMethod])
	if method == schedulerpb.HttpMethod_HTTP_METHOD_UNSPECIFIED {
		return schedulerpb.HttpMethod_POST
	}
	return method
}

// retryToAPI is what the server holds. The incumbent drops the block where it holds zeros, and writes the server's defaults into it
// elsewhere; either way a zero is the server's default.
func (s incumbent) retryToAPI() (*schedulerpb.RetryConfig, error) {
	var written retry
	if len(s.Retry) > 0 {
		written = s.Retry[0]
	}
	config := &schedulerpb.RetryConfig{
		RetryCount:   written.RetryCount,
		MaxDoublings: cmp.Or(written.MaxDoublings, int32(serverDefault("max_doublings"))),
	}
	for name, field := range map[string]struct {
		written string
		target  **durationpb.Duration
	}{
		"max_retry_duration":   {written.MaxRetryDuration, &config.MaxRetryDuration},
		"min_backoff_duration": {written.MinBackoffDuration, &config.MinBackoffDuration},
		"max_backoff_duration": {written.MaxBackoffDuration, &config.MaxBackoffDuration},
	} {
		span, err := optional(field.written)
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		if span.AsDuration() == 0 {
			span, err = optional(serverDefaultDuration(name))
		}
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		*field.target = span
	}
	return config, nil
}

// optional reads a duration; an empty text is none.
func optional(text string) (*durationpb.Duration, error) {
	if text == "" {
		return nil, nil // the API says the same by leaving the field out
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration", text)
	}
	return durationpb.New(d), nil
}
