package planlint

import (
	"encoding/json"
	"io"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// resultJSON is the form of --format json. Fields are only ever added to format 1.
type resultJSON struct {
	Format     int           `json:"format"`
	Findings   []findingJSON `json:"findings"`
	Suppressed []findingJSON `json:"suppressed"`
	Waiting    []waitingJSON `json:"cannot_tell"`
	Summary    summaryJSON   `json:"summary"`
}

type findingJSON struct {
	Rule      jobspec.RuleID `json:"rule"`
	Level     string         `json:"level"`
	Address   string         `json:"address"`
	Path      string         `json:"path,omitempty"`
	File      string         `json:"file,omitempty"`
	Line      int            `json:"line,omitempty"`
	Summary   string         `json:"summary"`
	Detail    string         `json:"detail"`
	Remedy    string         `json:"remedy"`
	Reason    string         `json:"reason,omitempty"`
	Accepted  bool           `json:"accepted,omitempty"`
	Timetable []attemptJSON  `json:"timetable,omitempty"`
}

type attemptJSON struct {
	Attempt    int    `json:"attempt"`
	Earliest   string `json:"earliest"`
	Latest     string `json:"latest"`
	LeaseEnd   string `json:"lease_end"`
	AfterLease bool   `json:"after_lease"`
}

type waitingJSON struct {
	Address string           `json:"address"`
	Rules   []jobspec.RuleID `json:"rules"`
}

type summaryJSON struct {
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Notes      int `json:"notes"`
	Suppressed int `json:"suppressed"`
	CannotTell int `json:"cannot_tell"`
	Jobs       int `json:"jobs"`
	Resources  int `json:"resources"`
}

// WriteJSON prints a result for programs.
func WriteJSON(w io.Writer, r Result) error {
	out := resultJSON{
		Format: 1, Findings: findingsJSON(r.Findings), Suppressed: findingsJSON(r.Suppressed), Waiting: []waitingJSON{},
		Summary: summaryJSON{
			r.Count(Error), r.Count(Warning), r.Count(Note), len(r.Suppressed), len(r.Waiting), r.Jobs, r.Resources,
		},
	}
	for _, waiting := range r.Waiting {
		out.Waiting = append(out.Waiting, waitingJSON(waiting))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func findingsJSON(findings []Finding) []findingJSON {
	all := make([]findingJSON, 0, len(findings))
	for _, f := range findings {
		out := findingJSON{
			Rule: f.Rule, Level: f.Level.String(), Address: f.Address, Path: f.Path.String(), File: f.Position.File, Line: f.Position.Line,
			Summary: f.Summary, Detail: f.Detail, Remedy: f.Remedy, Reason: f.Reason, Accepted: f.Accepted,
		}
		for _, a := range f.Timetable {
			out.Timetable = append(out.Timetable, attemptJSON{
				a.Number, seconds(a.Earliest), seconds(a.Latest), seconds(a.LeaseEnd), a.AfterLease,
			})
		}
		all = append(all, out)
	}
	return all
}
