package planlint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// WriteText prints a result for people: each finding with its place and mend, what cannot be told yet, and a line with the counts.
func WriteText(to io.Writer, r Result) error {
	w := bufio.NewWriter(to)
	for _, f := range r.Findings {
		writeFinding(w, f)
	}
	if len(r.Waiting) > 0 {
		fmt.Fprintln(w, "Cannot tell until apply:")
		for _, waiting := range r.Waiting {
			fmt.Fprintf(w, "  %s: %s\n", waiting.Address, joinRules(waiting.Rules))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, r.Summary())
	return w.Flush()
}

// Summary is the counts in one line.
func (r Result) Summary() string {
	parts := []string{amount(r.Count(Error), "error"), amount(r.Count(Warning), "warning"), amount(r.Count(Note), "note")}
	if n := len(r.Suppressed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d suppressed", n))
	}
	line := strings.Join(parts, ", ") + " in " + amount(r.Jobs, "job") + " of " + amount(r.Resources, "resource")
	if n := len(r.Waiting); n > 0 {
		line += "; " + amount(n, "resource") + " cannot be judged in full before apply"
	}
	return line + "."
}

func writeFinding(w io.Writer, f Finding) {
	place := f.Address
	if f.Position.File != "" {
		place = fmt.Sprintf("%s:%d", f.Position.File, f.Position.Line)
	}
	fmt.Fprintf(w, "%s: %s: %s [%s]\n", place, f.Level, f.Summary, f.Rule)
	if place != f.Address {
		fmt.Fprintf(w, "  at   %s\n", f.Address)
	}
	fmt.Fprintf(w, "  why  %s\n", indented(f.Detail))
	fmt.Fprintf(w, "  mend %s\n", indented(f.Remedy))
	writeTimetable(w, f.Timetable)
	fmt.Fprintln(w)
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n       ") }

func joinRules(ids []jobspec.RuleID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return strings.Join(texts, ", ")
}

// writeTimetable prints when the attempts of a run start.
func writeTimetable(w io.Writer, attempts []jobspec.Attempt) {
	if len(attempts) == 0 {
		return
	}
	fmt.Fprintln(w, "  attempt  earliest    latest  lease ends  after the lease of a crashed first attempt")
	for _, a := range attempts {
		after := "no"
		switch {
		case a.Number == 1:
			after = "-"
		case a.AfterLease:
			after = "yes"
		}
		fmt.Fprintf(w, "  %7d %9s %9s  %10s  %s\n", a.Number, seconds(a.Earliest), seconds(a.Latest), seconds(a.LeaseEnd), after)
	}
}
