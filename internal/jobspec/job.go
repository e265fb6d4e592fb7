package jobspec

import "time"

// Job is a scheduled job as declared. The attribute names of the provider are in brackets where they differ. A block that is
// unknown as a whole (a dynamic block over an unknown list) is Unknown, or for Retry and Deduplication has every field Unknown.
type Job struct {
	Name        Value[string]
	Project     Value[string]
	Region      Value[string]
	Description Value[string]
	Schedule    Value[string]
	TimeZone    Value[string] // unset: Etc/UTC
	// AttemptDeadline is how long Cloud Scheduler waits for an answer. Unset: 180 s for HTTP; by scaling type for App Engine.
	AttemptDeadline Value[time.Duration]
	Paused          Value[bool]

	HTTP      Value[HTTPTarget]      // http_target
	AppEngine Value[AppEngineTarget] // app_engine_http_target
	PubSub    Value[PubSubTarget]    // pubsub_target: only hashicorp/google has it; it is refused

	Retry         Retry // retry_config
	Deduplication Deduplication

	// AcceptedRisks maps a rule id to the reason why its finding is accepted. Unknown as a whole: findings that could be accepted
	// wait. A reason that is unknown counts as given.
	AcceptedRisks Value[map[string]Value[string]]

	// Now is the time from which clock changes of the time zone are looked for. Zero: they are not looked for.
	Now time.Time
}

// Headers are request headers as declared: the names are known when the map is, each value may still be unknown.
type Headers = map[string]Value[string]

// HTTPTarget is the block http_target.
type HTTPTarget struct {
	URI        Value[string]
	Method     Value[string] // http_method; unset: POST
	Body       Value[string] // base64
	BodyText   Value[string] // body_text: plain text; conflicts with Body
	Headers    Value[Headers]
	HeadersWO  Value[Headers] // headers_wo: write-only; values are never repeated in a finding or a derived value
	OIDCToken  Value[OIDCToken]
	OAuthToken Value[OAuthToken]
}

// OIDCToken is the block oidc_token.
type OIDCToken struct {
	ServiceAccountEmail Value[string]
	Audience            Value[string]
}

// OAuthToken is the block oauth_token.
type OAuthToken struct {
	ServiceAccountEmail Value[string]
	Scope               Value[string] // unset: the cloud-platform scope
}

// AppEngineTarget is the block app_engine_http_target.
type AppEngineTarget struct {
	RelativeURI Value[string] // unset: /
	Method      Value[string] // http_method; unset: POST
	Body        Value[string] // base64
	BodyText    Value[string]
	Headers     Value[Headers]
	HeadersWO   Value[Headers]
	Service     Value[string] // app_engine_routing.0.service
	Version     Value[string]
	Instance    Value[string]
}

// PubSubTarget is the block pubsub_target of google_cloud_scheduler_job.
type PubSubTarget struct {
	Topic Value[string]
}

// Retry is the block retry_config.
type Retry struct {
	Set          bool // whether the block is there
	Count        Value[int]
	MaxDuration  Value[time.Duration] // 0: no limit
	MinBackoff   Value[time.Duration]
	MaxBackoff   Value[time.Duration]
	MaxDoublings Value[int]
}

// The modes of deduplication.
const (
	// ModeEnforce proves the job and fills in defaults that make the proofs hold. The default.
	ModeEnforce = "enforce"
	// ModeObserve injects the headers and changes nothing else: defaults stay Google's, failed proofs are warnings.
	ModeObserve = "observe"
)

// Deduplication is the block deduplication. Without the block every field is unset, which is enforce with all defaults.
type Deduplication struct {
	Set            bool          // whether the block is there
	Mode           Value[string] // ModeEnforce (default) or ModeObserve
	Store          Value[string] // URL; unset: the contract's, else firestore://{project}/(default)/scheduler_runs
	ManageTTL      Value[bool]   // unset: true
	Contract       Value[string] // what a handler promises, see ParseContract
	RequestTimeout Value[time.Duration]
	Lease          Value[time.Duration]
	RenewLease     Value[bool]
	Retention      Value[time.Duration]
	ForcedRuns     Value[string] // separate (default), skip_next, reject
	RunScope       Value[string]
	RunIDFormat    Value[string] // v1 (default) or sample
	MaxAttempts    Value[int]    // 0: no limit
	AtMostOnce     Value[bool]
	Wait           Value[bool]
	Previous       Value[Previous]
}

// Previous is the block previous: the name that runs had before a change of store, format, scope or forced policy.
type Previous struct {
	Store       Value[string]
	RunIDFormat Value[string]
	RunScope    Value[string]
	ForcedRuns  Value[string]
	Until       Value[string] // RFC 3339
}
