package jobspec

// The rules that a job alone cannot be judged by: they need its target, other resources, what was there before, files beside the
// plan, or how it was written. The package planlint judges them.
const (
	DurationInvalid             RuleID = "duration-invalid"
	LeaseUnknown                RuleID = "lease-unknown"
	PolicyHeaderMismatch        RuleID = "policy-header-mismatch"
	DeadlineAfterRequestTimeout RuleID = "deadline-after-request-timeout"
	TargetOpen                  RuleID = "target-open"
	SameJobElsewhere            RuleID = "same-job-elsewhere"
	TTLMissing                  RuleID = "ttl-missing"
	TTLWrongField               RuleID = "ttl-wrong-field"
	IndexExemptionMissing       RuleID = "index-exemption-missing"
	TTLDestroyed                RuleID = "ttl-destroyed"
	StoreDestroyed              RuleID = "store-destroyed"
	JobMoved                    RuleID = "job-moved"
	RunsRenamed                 RuleID = "runs-renamed"
	TimeZoneChanged             RuleID = "time-zone-changed"
	PausedResumed               RuleID = "paused-resumed"
	HandlerOutdated             RuleID = "handler-outdated"
	SuppressionUnused           RuleID = "suppression-unused"
	SuppressionExpired          RuleID = "suppression-expired"
)

// PlanRules lists those rules, in the order in which findings of one resource come. None of them can be accepted by a job: what they
// find is suppressed in the settings of check.
var PlanRules = []Rule{
	{ID: DurationInvalid, Title: "A duration cannot be read"},
	{ID: LeaseUnknown, Title: "No lease is known that retries could outlast", Severity: Note},
	{ID: PolicyHeaderMismatch, Title: "The policy header does not say what the job does"},
	{ID: DeadlineAfterRequestTimeout, Title: "The attempt deadline outlasts the target", Severity: Note},
	{ID: TargetOpen, Title: "Anyone may call the target"},
	{ID: SameJobElsewhere, Title: "Two jobs give their runs one name"},
	{ID: TTLMissing, Title: "The collection of claims has no TTL policy", Severity: Warning},
	{ID: TTLWrongField, Title: "The TTL policy is on another field than expire_at"},
	{ID: IndexExemptionMissing, Title: "A timestamp of the claims is indexed", Severity: Warning},
	{ID: TTLDestroyed, Title: "The TTL policy of a collection in use is destroyed", Severity: Warning},
	{ID: StoreDestroyed, Title: "The database that holds the claims is destroyed"},
	{ID: JobMoved, Title: "Runs get new names while some may be in flight", Severity: Warning},
	{ID: RunsRenamed, Title: "Runs are found by another name, and the previous one is not declared", Severity: Warning},
	{ID: TimeZoneChanged, Title: "Another time zone moves the runs", Severity: Warning},
	{ID: PausedResumed, Title: "A paused job is resumed", Severity: Warning},
	{ID: HandlerOutdated, Title: "The generated handler is older than its spec", Severity: Warning},
	{ID: SuppressionUnused, Title: "A suppression hides nothing", Severity: Warning},
	{ID: SuppressionExpired, Title: "A suppression has ended", Severity: Warning},
}
