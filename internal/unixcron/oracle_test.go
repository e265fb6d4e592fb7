package unixcron_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// matches is the rule of the package read off an expression the slow way, by its text: does this wall-clock time match? It knows
// numbers only.
func matches(expr string, wall time.Time) bool {
	fields := strings.Fields(expr)
	day := matchesField(fields[2], wall.Day(), 1, 31)
	week := matchesField(fields[4], int(wall.Weekday()), 0, 6) || (wall.Weekday() == time.Sunday && matchesField(fields[4], 7, 0, 6))

	either := !unrestricted(fields[2]) && !unrestricted(fields[4])

	return wall.Second() == 0 && wall.Nanosecond() == 0 &&
		matchesField(fields[0], wall.Minute(), 0, 59) &&
		matchesField(fields[1], wall.Hour(), 0, 23) &&
		matchesField(fields[3], int(wall.Month()), 1, 12) &&
		((day && week) || (either && (day || week)))
}

func unrestricted(field string) bool {
	for entry := range strings.SplitSeq(field, ",") {
		if entry == "*" || entry == "*/1" {
			return true
		}
	}

	return false
}

func matchesField(field string, value, low, high int) bool {
	for entry := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(entry, "/")
		from, to := low, high

		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			from = atoi(first)
			to = from

			if ranged {
				to = atoi(last)
			}
		}

		every := 1
		if stepped {
			every = atoi(step)
		}

		if value >= from && value <= to && (value-from)%every == 0 {
			return true
		}
	}

	return false
}

// atoi reads a number that the test itself has written; anything else matches nothing.
func atoi(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}

	return value
}

// runs lists the instants from one to another, both included, at which an expression fires, by looking at every minute.
func runs(expr string, from, to time.Time, loc *time.Location) []time.Time {
	var found []time.Time

	for at := from.Truncate(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		if !at.Before(from) && matches(expr, at.In(loc)) {
			found = append(found, at.In(loc))
		}
	}

	return found
}

// randomExpr is an expression of numbers. Its days exist in every year.
func randomExpr(random *rand.Rand) string {
	part := func(low, high int) string {
		low += random.IntN(high - low + 1)
		from := strconv.Itoa(low)
		to := strconv.Itoa(low + random.IntN(high-low+1))

		switch random.IntN(8) {
		case 0, 1:
			return from
		case 2:
			return from + "-" + to
		case 3:
			return from + "-" + to + "/" + strconv.Itoa(1+random.IntN(5))
		case 4:
			return "*/" + strconv.Itoa(1+random.IntN(6))
		case 5:
			return from + "," + to + "," + from + "-" + to
		default:
			return "*"
		}
	}

	return strings.Join([]string{part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 7)}, " ")
}

func mustParse(tb testing.TB, expr string) unixcron.Schedule {
	tb.Helper()

	schedule, err := unixcron.Parse(expr)
	if err != nil {
		tb.Fatal(err)
	}

	return schedule
}

func mustLoad(tb testing.TB, name string) *time.Location {
	tb.Helper()

	loc, err := unixcron.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}

	return loc
}

func utc(year int, month time.Month, day, hour, minute int) time.Time {
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
}

// numbered replaces the names of an accepted expression by numbers.
func numbered(expr string) string {
	return strings.NewReplacer(
		"JAN", "1", "FEB", "2", "MAR", "3", "APR", "4", "MAY", "5", "JUN", "6", "JUL", "7", "AUG", "8", "SEP", "9", "OCT", "10",
		"NOV", "11", "DEC", "12", "SUN", "0", "MON", "1", "TUE", "2", "WED", "3", "THU", "4", "FRI", "5", "SAT", "6",
	).Replace(expr)
}
