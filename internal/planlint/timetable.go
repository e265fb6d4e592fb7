package planlint

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agext/levenshtein"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// WriteTimetable prints for the job at an address when each attempt of a run would start, when its lease ends and when the record of
// the run may go. All times count from the schedule time.
func WriteTimetable(to io.Writer, d *Document, options Options, address string) error {
	c := newChecker(d, options)
	i := slices.IndexFunc(c.jobs, func(j *job) bool { return j.address == address })
	if i < 0 {
		return c.noSuchJob(address)
	}
	j := c.jobs[i]
	derived := jobspec.Derive(j.masked)
	attempts := derived.Timetable()
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "%s\n", j.address)
	if !j.leased {
		fmt.Fprintln(w, "No lease is known for it; the times below are those of a generated handler with its default lease.")
	}
	if attempts == nil {
		fmt.Fprintln(w, "Its timetable follows from values that are known only after apply, or that cannot be read.")
		return w.Flush()
	}
	writeTimetable(w, attempts)
	dedup := derived.Deduplication
	for _, line := range []struct {
		words string
		value string
	}{
		{"attempt deadline", orLater(derived.AttemptDeadline.Get())},
		{"lease", orLater(dedup.Lease.Get())},
		{"a dead attempt blocks its run for at most", orLater(derived.Blocked.Get())},
		{"the last retry has ended by", orLater(derived.Horizon.Get())},
		{"the record may go, after the run is done", orLater(dedup.Retention.Get())},
	} {
		fmt.Fprintf(w, "  %-42s %s\n", line.words, line.value)
	}
	return w.Flush()
}

// orLater writes a duration, if it is known.
func orLater(d time.Duration, known bool) string {
	if !known {
		return "known after apply"
	}
	return seconds(d)
}

// noSuchJob names the jobs that may have been meant.
func (c *checker) noSuchJob(address string) error {
	all := addresses(c.jobs)
	if len(all) == 0 {
		return fmt.Errorf("there is no job %s: the document holds none", address)
	}
	distance := func(a string) int {
		if strings.Contains(a, address) {
			return 0
		}
		return levenshtein.Distance(a, address, nil)
	}
	slices.SortStableFunc(all, func(a, b string) int { return distance(a) - distance(b) })
	return fmt.Errorf("there is no job %s: its jobs are %s", address, several(all))
}
