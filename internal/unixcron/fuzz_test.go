package unixcron_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// FuzzParse holds three promises against any input: Parse answers or refuses in a proper error whose suggestion it accepts, what it
// accepted prints as it was written, and Next and Prev answer instants that match, with none between.
func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"* * * * *", "*/5 * * * *", "0 9-17 * * MON-FRI", "30 2 * * *", "0 0 29 2 *", "0 0 13 * 5", "5-59/15 1,2 */2 JAN,FEB 7", "@daily",
		"0 0 9 ? * mon-fri", "every 5 minutes", "1 of jan,april 9:00", "TZ=UTC 0 0 L * *", "0 0 30 2 *", "0 22-2 15W * fri#2", "9, 10 ,, * *",
	} {
		f.Add(expr, uint8(1), int64(1806188400)) // 2027-03-28 in Berlin
	}

	f.Add("0 2 * * *", uint8(2), int64(2245492800))
	f.Add("*/30 * 31 12 *", uint8(3), int64(2240611200)) // 31 December 2040
	f.Add("0 0 * * *", uint8(4), int64(1325203200))      // the day that Apia skipped

	zones := []string{"Etc/UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"}

	f.Fuzz(func(t *testing.T, expr string, zone uint8, unix int64) {
		schedule, err := unixcron.Parse(expr)
		if err != nil {
			checkRefusal(t, expr, err)

			return
		}

		if again := mustParse(t, schedule.String()); again != schedule || schedule.String() != expr {
			t.Fatalf("%q prints as %q", expr, schedule)
		}

		if schedule.Describe() == "" || schedule.ShortestInterval() < time.Minute {
			t.Fatalf("%q: %q, %v", expr, schedule.Describe(), schedule.ShortestInterval())
		}

		const from, span = -2000000000, 8000000000 // the years 1906 to 2160

		at := time.Unix(from+((unix-from)%span+span)%span, 0)
		checkNeighbours(t, expr, schedule, at, mustLoad(t, zones[int(zone)%len(zones)]))
	})
}

func checkRefusal(t *testing.T, expr string, err error) {
	t.Helper()

	var wrong *unixcron.Error
	if !errors.As(err, &wrong) || wrong.Expr != expr || wrong.Reason == "" {
		t.Fatalf("%q: %#v", expr, err)
	}

	if wrong.Suggestion != "" {
		mustParse(t, wrong.Suggestion)
	}
}

// checkNeighbours compares the run before and the run after an instant with a look at every minute, an hour and a day far.
func checkNeighbours(t *testing.T, expr string, schedule unixcron.Schedule, at time.Time, loc *time.Location) {
	t.Helper()

	next, prev := schedule.Next(at, loc), schedule.Prev(at, loc)
	if !next.After(at) || !prev.Before(at) {
		t.Fatalf("%q around %v in %v: next %v, previous %v", expr, at, loc, next, prev)
	}

	for _, run := range []time.Time{next, prev} {
		if !schedule.Next(run.Add(-1), loc).Equal(run) || !schedule.Prev(run.Add(1), loc).Equal(run) {
			t.Fatalf("%q in %v: %v is a run from one side only", expr, loc, run)
		}
	}

	named := numbered(expr)

	for _, run := range []time.Time{next, prev} {
		if !matches(named, run) {
			t.Fatalf("%q in %v fires at %v, which does not match", expr, loc, run)
		}
	}

	const span = 25 * time.Hour

	between := runs(named, maxTime(prev.Add(1), at.Add(-span)), minTime(next.Add(-1), at.Add(span)), loc)
	for _, run := range between {
		if !run.Equal(at) {
			t.Fatalf("%q around %v in %v: %v lies between %v and %v", expr, at, loc, run, prev, next)
		}
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}

	return b
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}

	return b
}
