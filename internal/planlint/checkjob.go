package planlint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// hidden stands for a sensitive value.
const hidden = "(sensitive value)"

// needsLease says that a rule is about a lease, and means nothing where none is known.
func needsLease(id jobspec.RuleID) bool {
	switch id {
	case "lease-too-short", "retention-too-short", "retry-ends-before-lease", "last-retry-before-lease", "recovery-after-next-run",
		"app-engine-deadline-missing":
		return true
	}
	return false
}

// aboutRetries says that the timetable of the attempts explains a finding.
func aboutRetries(id jobspec.RuleID) bool {
	return id == "retry-ends-before-lease" || id == "last-retry-before-lease" || id == "recovery-after-next-run" || id == jobspec.LeaseUnknown
}

// verdict is what one job's own rules found.
type verdict struct {
	findings, accepted []Finding
	waiting            []jobspec.RuleID
}

// checkJobs judges each job by the rules of jobspec and by those that need its target.
func (c *checker) checkJobs() {
	verdicts := make([]verdict, len(c.jobs))
	inParallel(len(c.jobs), func(i int) { verdicts[i] = judge(c.jobs[i]) })
	for i, j := range c.jobs {
		for _, f := range verdicts[i].findings {
			c.reportAt(j.resource, f)
		}
		for _, f := range verdicts[i].accepted {
			f.Address = j.address
			c.accepted = append(c.accepted, placed{f, j.resource})
		}
		c.wait(j.resource, verdicts[i].waiting...)
		for _, bad := range j.durations {
			c.report(j.resource, j.durationFinding(bad))
		}
		c.checkPolicyHeader(j)
		c.checkTimeout(j)
	}
}

// judge evaluates a job by the rules of jobspec, and keeps what other rules ask of it.
func judge(j *job) verdict {
	spec, masked := j.spec, j.masked
	if timeout, ok := j.targetTimeout().Get(); ok && !j.ours && !spec.Deduplication.RequestTimeout.IsSet() {
		spec.Deduplication.RequestTimeout = jobspec.Known(timeout)
		masked.Deduplication.RequestTimeout = jobspec.Known(timeout)
	}
	report := jobspec.Evaluate(spec)
	j.keeps, j.naming, j.deadline = report.Derived.Deduplication.Store, report.Derived.Naming(), report.Derived.AttemptDeadline
	var shown map[string]bool
	if j.secret {
		shown = map[string]bool{}
		openly := jobspec.Evaluate(masked)
		j.deadline = openly.Derived.AttemptDeadline
		for _, f := range slices.Concat(openly.Findings, openly.Accepted) {
			shown[words(f)] = true
		}
	}
	var v verdict
	unread := map[jobspec.RuleID]bool{}
	for _, f := range report.Findings {
		if j.leased || !needsLease(f.Rule) {
			if !j.ignores(f) {
				v.findings = append(v.findings, j.finding(f, report.Derived, shown))
			}
			continue
		}
		if len(unread) == 0 {
			v.findings = append(v.findings, j.withoutLease(f, report.Derived))
		}
		unread[f.Rule] = true
	}
	for _, f := range report.Accepted {
		finding := j.finding(f, report.Derived, shown)
		finding.Reason = reasonFor(f.Rule, spec, j.masked)
		v.accepted = append(v.accepted, finding)
	}
	for _, id := range report.Waiting {
		if j.leased || !needsLease(id) {
			v.waiting = append(v.waiting, id)
		}
	}
	return v
}

func words(f jobspec.Finding) string {
	return strings.Join([]string{string(f.Rule), f.Path.String(), f.Summary, f.Detail, f.Remedy}, "\x00")
}

// reasonFor is why a rule's finding is accepted; a reason that is not known yet or sensitive is not repeated.
func reasonFor(id jobspec.RuleID, spec, masked jobspec.Job) string {
	if reason, ok := masked.AcceptedRisks.OrZero()[string(id)].Get(); ok {
		return reason
	}
	if reason := spec.AcceptedRisks.OrZero()[string(id)]; reason.IsUnknown() {
		return "(known after apply)"
	}
	return hidden
}

// ignores says that the target makes a finding void.
func (j *job) ignores(f jobspec.Finding) bool {
	token, _ := j.spec.HTTP.OrZero().OIDCToken.Get()
	return f.Rule == "audience-origin" && j.target.listsAudience(token.Audience.OrZero())
}

// finding converts a finding of jobspec. The levels are the rule's own for jobs that are not ours: they have no mode in which a
// proof is only a warning.
func (j *job) finding(f jobspec.Finding, derived jobspec.Derived, shown map[string]bool) Finding {
	level := levelOf(f.Severity)
	if rule, ok := jobspec.LookupRule(f.Rule); ok && !j.ours {
		level = levelOf(rule.Severity)
	}
	out := Finding{Rule: f.Rule, Level: level, Path: f.Path, Summary: f.Summary, Detail: f.Detail, Remedy: f.Remedy}
	if shown != nil && !shown[words(f)] {
		out = j.maskedFinding(f, level)
	}
	if aboutRetries(f.Rule) {
		out.Timetable = derived.Timetable()
	}
	return out
}

// maskedFinding says which rule is violated and where, and repeats nothing of what the finding follows from.
func (j *job) maskedFinding(f jobspec.Finding, level Level) Finding {
	path := f.Path
	if i := slices.IndexFunc(path, func(s any) bool { return s == "headers" || s == "accepted_risks" }); i >= 0 {
		path = path[:i+1]
	}
	title := f.Rule
	rule, _ := jobspec.LookupRule(title)
	summary := j.called()
	if len(path) > 0 {
		summary = path.String() + " of " + summary
	}
	return Finding{
		Rule: f.Rule, Level: level, Path: path, Summary: summary + ": " + lowerFirst(rule.Title),
		Detail: "What the finding follows from is sensitive and is not shown.",
		Remedy: "`check --explain " + string(f.Rule) + "` says what mends it.",
	}
}

// called is the job in words.
func (j *job) called() string {
	if name, ok := j.masked.Name.Get(); ok {
		return fmt.Sprintf("job %q", name)
	}
	return "a job"
}

func lowerFirst(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// withoutLease is the note that takes the place of findings about a lease that nobody knows.
func (j *job) withoutLease(f jobspec.Finding, derived jobspec.Derived) Finding {
	lease := derived.Deduplication.Lease.OrZero()
	return Finding{
		Rule: jobspec.LeaseUnknown, Level: Note, Path: jobspec.Path{"retry_config"},
		Summary: "retry_config of " + j.called() + ": whether a retry outlasts the lease of a crashed attempt cannot be told",
		Detail: fmt.Sprintf("Nothing in the plan says how long the handler holds a claim. With a lease of %s, the default of a generated "+
			"handler, the retries would end before it or come too late, and a crash could lose the run.", seconds(lease)),
		Remedy: "Compare the timetable with the handler's lease, or declare the job as idempotent_scheduled_job, which proves it. For a " +
			"lease of " + seconds(lease) + ": " + f.Remedy,
		Timetable: derived.Timetable(),
	}
}

func (j *job) durationFinding(bad badDuration) Finding {
	text := fmt.Sprintf("%.60q", bad.text)
	if j.secret {
		text = hidden
	}
	return Finding{
		Rule: jobspec.DurationInvalid, Path: bad.path, Summary: bad.path.String() + " of " + j.called() + ": " + text + " is not a duration",
		Detail: "The rules that need it cannot tell anything.", Remedy: "Write " + bad.form + ".",
	}
}

// targetTimeout is how long the target lets a request live: Unset without a target in the document.
func (j *job) targetTimeout() jobspec.Value[time.Duration] {
	if j.target == nil {
		return jobspec.Unset[time.Duration]()
	}
	return j.target.timeout
}

// checkTimeout tells of deadlines that the target never lets a request reach. The other way round, a deadline that is too short,
// is a rule of jobspec.
func (c *checker) checkTimeout(j *job) {
	if j.target == nil {
		return
	}
	if j.target.timeout.IsUnknown() {
		c.wait(j.resource, jobspec.DeadlineAfterRequestTimeout)
		if !j.ours {
			c.wait(j.resource, "deadline-before-request-timeout")
		}
		return
	}
	timeout, known := j.target.timeout.Get()
	deadline, ok := j.deadline.Get()
	if !known || !ok || timeout <= 0 || deadline <= timeout {
		return
	}
	c.report(j.resource, Finding{
		Rule: jobspec.DeadlineAfterRequestTimeout, Path: jobspec.Path{"attempt_deadline"},
		Summary: fmt.Sprintf("attempt_deadline of %s: %s is longer than the target lives", j.called(), seconds(deadline)),
		Detail: fmt.Sprintf("%s ends a request after %s. What the deadline allows beyond that is never used; the lease, which follows from "+
			"it, only holds a crashed run up for longer.", j.target.address, seconds(timeout)),
		Remedy: fmt.Sprintf("Set attempt_deadline to %s, or the timeout of the target to %s.", seconds(max(timeout, 15*time.Second)), seconds(deadline)),
	})
}

// checkPolicyHeader holds a policy header that was written by hand against the job that carries it.
func (c *checker) checkPolicyHeader(j *job) {
	if j.ours || !j.policy.IsSet() {
		return
	}
	text, ok := j.policy.Get()
	if !ok {
		c.wait(j.resource, jobspec.PolicyHeaderMismatch)
		return
	}
	problem := "it cannot be read"
	if j.policyErr == nil {
		p, _ := run.ParsePolicy(text)
		problem = j.policyProblem(p)
	}
	switch {
	case problem == "":
		return
	case j.policyHidden:
		problem = "it is wrong, and sensitive"
	}
	c.report(j.resource, Finding{
		Rule: jobspec.PolicyHeaderMismatch, Path: jobspec.Path{"http_target", 0, "headers", run.HeaderPolicy},
		Summary: "the policy header of " + j.called() + ": " + problem,
		Detail:  "The handler does what the header says: a policy of another job's shape proves nothing about this one.",
		Remedy:  "Declare the job as idempotent_scheduled_job, which writes the header, or bring the header into line with the job.",
	})
}

// policyProblem says what a policy gets wrong about the job, without repeating anything sensitive.
func (j *job) policyProblem(p run.Policy) string {
	if deadline, ok := j.deadline.Get(); ok && p.Deadline > 0 && p.Deadline != deadline {
		return fmt.Sprintf("its deadline is %s, the job's %s", seconds(p.Deadline), seconds(deadline))
	}
	if schedule, ok := j.masked.Schedule.Get(); ok && p.Schedule != "" && p.Schedule != schedule {
		return fmt.Sprintf("its schedule is %q, the job's %q", p.Schedule, schedule)
	}
	if zone, ok := j.masked.TimeZone.Or("Etc/UTC").Get(); ok && p.Schedule != "" && unixcron.CanonicalZone(p.TimeZone) != unixcron.CanonicalZone(zone) {
		return fmt.Sprintf("its time zone is %q, the job's %q", unixcron.CanonicalZone(p.TimeZone), zone)
	}
	return ""
}
