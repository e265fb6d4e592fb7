package jobspec

import (
	"slices"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// Report is what became of every rule for one job.
type Report struct {
	Findings []Finding // in the order of Rules, after accepted_risks and mode observe
	Accepted []Finding // those that accepted_risks covers
	Waiting  []RuleID  // rules that cannot tell before something is known; neither passed nor failed
	Derived  Derived   // what was judged: the job with every default filled in
}

// Check is the findings of a job. None: every rule holds, or waits for a value that is not known yet.
func Check(j Job) []Finding { return Evaluate(j).Findings }

// Evaluate judges a job by every rule.
func Evaluate(j Job) Report {
	s := newSubject(j)
	report := Report{Derived: s.derived}
	var fired []RuleID
	for _, rule := range judgedRules {
		verdict := judge{subject: s}
		rule.judge(&verdict)
		switch {
		case len(verdict.problems) > 0:
			fired = append(fired, rule.ID)
		case verdict.waiting:
			report.wait(rule.ID)
		}
		for _, p := range verdict.problems {
			report.add(s, rule.Rule, p)
		}
	}
	report.judgeAcceptance(s, fired)
	return report
}

// add files a problem by what mode and accepted_risks say.
func (r *Report) add(s *subject, rule Rule, p problem) {
	severity := rule.Severity
	if rule.Proof {
		switch mode, ok := s.derived.Mode.Get(); {
		case !ok:
			r.wait(rule.ID)
			return
		case mode == ModeObserve:
			severity = Warning
		}
	}
	f := s.finding(rule.ID, severity, p)
	switch {
	case !rule.Acceptable:
		r.Findings = append(r.Findings, f)
	case s.job.AcceptedRisks.IsUnknown():
		r.wait(rule.ID)
	case s.accepts(rule.ID):
		r.Accepted = append(r.Accepted, f)
	default:
		r.Findings = append(r.Findings, f)
	}
}

func (r *Report) wait(id RuleID) {
	if !slices.Contains(r.Waiting, id) {
		r.Waiting = append(r.Waiting, id)
	}
}

// subject is a job with what follows from it, shared by all rules.
type subject struct {
	job      Job
	derived  Derived
	schedule unixcron.Schedule
	// scheduleErr is why the schedule cannot be read; nil with a zero schedule: it is not known, or there is none.
	scheduleErr *unixcron.Error
	zone        *time.Location // nil: not known, or there is none of that name
	zoneErr     error
}

// judge collects what one rule has to say about a job.
type judge struct {
	*subject

	problems []problem
	waiting  bool
}

// problem is one violation.
type problem struct {
	path   Path
	what   string // continues the sentence "PATH of job NAME"
	detail string
	remedy string
}

// fail records a violation. what continues "PATH of job NAME: ".
func (v *judge) fail(path Path, what, detail, remedy string) {
	v.problems = append(v.problems, problem{path: path, what: what, detail: detail, remedy: remedy})
}

// get is the value if it is known. If it is unknown, the rule waits.
func get[T any](v *judge, value Value[T]) (T, bool) {
	if value.IsUnknown() {
		v.waiting = true
	}
	return value.Get()
}

func (s *subject) finding(id RuleID, severity Severity, p problem) Finding {
	return Finding{
		Rule: id, Severity: severity, Path: p.path, Summary: s.place(p.path) + ": " + p.what, Detail: p.detail, Remedy: p.remedy,
	}
}

// place is the attribute and the job in words, which every message begins with: paths inside nested attributes do not reach the
// user, and equal warnings of many jobs collapse into one.
func (s *subject) place(path Path) string {
	job := "a job without a name"
	if name, ok := s.job.Name.Get(); ok {
		job = "job " + quote(name)
	} else if s.job.Name.IsUnknown() {
		job = "a job whose name is not known yet"
	}
	if len(path) == 0 {
		return job
	}
	return path.words() + " of " + job
}
