package run

// Request and response headers. Look-ups ignore case.
const (
	// HeaderScheduler is "true" on each delivery of Cloud Scheduler. Nothing authenticates it.
	HeaderScheduler = "X-CloudScheduler"
	// HeaderJobName carries the short id of the job, without project or region.
	HeaderJobName = "X-CloudScheduler-JobName"
	// HeaderScheduleTime carries the schedule time in RFC 3339; it is the same for all retries of one run.
	HeaderScheduleTime = "X-CloudScheduler-ScheduleTime"
	// HeaderProject carries the project of the job; the provider injects it, since Cloud Scheduler sends none.
	HeaderProject = "X-Idempotent-Project"
	// HeaderRegion carries the region of the job; the provider injects it.
	HeaderRegion = "X-Idempotent-Region"
	// HeaderPolicy carries an encoded [Policy]; the provider injects it. It counts only once the caller is verified.
	HeaderPolicy = "X-Idempotent-Policy"
	// HeaderOutcome is the response header that names what became of the delivery: executed, duplicate, in_progress and so on.
	HeaderOutcome = "Idempotent-Run"
	// HeaderClock carries the moved clock of a local cloud in RFC 3339. It counts only from a loopback peer and only where the
	// handler was told that it runs under a local cloud.
	HeaderClock = "X-Idempotent-Clock"
)

// Environment variables that a handler reads.
const (
	// EnvStore is the URL of the store that holds the claim records.
	EnvStore = "IDEMPOTENT_STORE"
	// EnvPrevious says how runs were named before a change, see [ParsePrevious].
	EnvPrevious = "IDEMPOTENT_PREVIOUS"
	// EnvPreviousStore is the URL of the store that held the claim records before a change of store. It needs EnvPrevious too, which
	// says until when.
	EnvPreviousStore = "IDEMPOTENT_PREVIOUS_STORE"
	// EnvProject is the project to assume when a delivery names none.
	EnvProject = "IDEMPOTENT_PROJECT"
	// EnvRegion is the region to assume when a delivery names none.
	EnvRegion = "IDEMPOTENT_REGION"
	// EnvCaller says how callers are checked: verify (default), cloud_run_iam, app_engine or insecure.
	EnvCaller = "IDEMPOTENT_CALLER"
	// EnvAudiences is a comma-separated list of the token audiences that are accepted.
	EnvAudiences = "IDEMPOTENT_AUDIENCES"
	// EnvCallers is a comma-separated list of the service account addresses that may call.
	EnvCallers = "IDEMPOTENT_CALLERS"
	// EnvIssuer is the token issuer; unset: Google.
	EnvIssuer = "IDEMPOTENT_ISSUER"
	// EnvJWKS is the URL of the issuer's keys; unset: Google's.
	EnvJWKS = "IDEMPOTENT_JWKS"
	// EnvRequestTimeout is the longest a request may last on the platform, as a duration such as 300s.
	EnvRequestTimeout = "IDEMPOTENT_REQUEST_TIMEOUT"
	// EnvShutdownGrace is how long running work may take to end after SIGTERM, as a duration such as 8s.
	EnvShutdownGrace = "IDEMPOTENT_SHUTDOWN_GRACE"
	// EnvLocalCloud is true when the handler runs under a local cloud, whose moved clock it then believes.
	EnvLocalCloud = "IDEMPOTENT_LOCAL_CLOUD"
	// EnvPort is the TCP port to listen on; the platforms set it.
	EnvPort = "PORT"
)
