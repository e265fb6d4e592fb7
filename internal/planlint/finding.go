package planlint

import (
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// Position is a place in the configuration's source. The zero Position is unknown.
type Position struct {
	File string // with forward slashes, relative to where the command runs
	Line int    // from 1
}

// Finding is one violation of one rule by one resource.
type Finding struct {
	Rule     jobspec.RuleID
	Level    Level
	Address  string       // of the resource; of settings: the file
	Path     jobspec.Path // inside the resource; empty: the resource itself
	Summary  string
	Detail   string
	Remedy   string
	Position Position
	// Timetable is when the attempts of a run would start; only findings about retries carry it.
	Timetable []jobspec.Attempt
	// Reason is why a suppressed or accepted finding is not counted.
	Reason string
	// Accepted says that accepted_risks of the job covers it, rather than a suppression of the settings.
	Accepted bool
}

// Waiting lists the rules that cannot tell about a resource before apply.
type Waiting struct {
	Address string
	Rules   []jobspec.RuleID
}

// Result is what became of a plan or state.
type Result struct {
	Findings   []Finding // in the order of the document
	Suppressed []Finding // covered by settings or by accepted_risks
	Waiting    []Waiting
	Jobs       int // scheduled jobs that were judged
	Resources  int // resources that were read, of whatever type
}

// Count is how many findings have that level.
func (r Result) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// Worst is the highest level of the findings, Off when there are none.
func (r Result) Worst() Level {
	worst := Off
	for _, f := range r.Findings {
		worst = max(worst, f.Level)
	}
	return worst
}
