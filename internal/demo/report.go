package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// noAnswer stands where a delivery got none.
const noAnswer = "-"

// Report prints the table and the verdict and returns the exit code: 0 only if nothing is amiss.
func Report(out io.Writer, seen Evidence) int {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	deliveries, effects := 0, 0

	fmt.Fprintln(table, "\nrun\tdeliveries\tattempts\teffects\tanswers")

	for _, r := range seen.Runs {
		deliveries += len(r.Deliveries)
		effects += r.Effects
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\n", shortName(r.Name), len(r.Deliveries), r.Attempts, r.Effects, answers(r.Deliveries))
	}

	_ = table.Flush()

	fmt.Fprintf(out, "\nkilled in the middle of the work: pid %d; a token for another audience: %d; deliveries took %s\n",
		seen.KilledPID, seen.WrongAudience, seen.Took.Round(time.Second))

	faults := Judge(seen)
	for _, fault := range faults {
		fmt.Fprintln(out, "not as it must be:", fault)
	}

	verdict, code := "ok", 0
	if len(faults) > 0 {
		verdict, code = "FAILED", 1
	}

	fmt.Fprintf(out, "demo: runs=%d deliveries=%d effects=%d %s\n", len(seen.Runs), deliveries, effects, verdict)

	return code
}

// shortName leaves out what all runs of the demo share.
func shortName(name string) string {
	_, job, found := strings.Cut(name, "/jobs/")
	if !found {
		return name
	}

	return job
}

// answers lists the outcomes in the order of the deliveries, runs of equal ones together.
func answers(d []DeliverySeen) string {
	var parts []string

	for i := 0; i < len(d); {
		same := i + 1
		for same < len(d) && label(d[same]) == label(d[i]) {
			same++
		}

		part := label(d[i])
		if same-i > 1 {
			part = fmt.Sprintf("%dx %s", same-i, part)
		}

		parts = append(parts, part)
		i = same
	}

	return strings.Join(parts, ", ")
}

func label(d DeliverySeen) string {
	if d.Fault == "" || d.Outcome == noAnswer {
		return d.Outcome
	}

	return d.Outcome + " (" + d.Fault + ")"
}
