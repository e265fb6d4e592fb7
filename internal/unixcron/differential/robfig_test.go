package differential_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// nearTransition is how far around a change of the clocks runs are not compared: robfig/cron moves or drops runs there.
const nearTransition = 26 * time.Hour

func TestRunsAgreeWithRobfigAwayFromChangesOfTheClocks(t *testing.T) {
	t.Parallel()

	zones := []string{
		"Etc/UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Pacific/Apia",
		"Africa/Casablanca",
	}
	starts := []time.Time{
		time.Date(2026, time.November, 30, 11, 59, 59, 999, time.UTC),
		time.Date(2040, time.December, 30, 22, 17, 3, 0, time.UTC),
		time.Date(2051, time.March, 1, 0, 0, 0, 0, time.UTC),
	}

	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			loc, err := unixcron.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}

			random := rand.New(rand.NewPCG(2, uint64(len(name))))
			compared := 0

			for range 60 {
				expr := randomExpr(random)
				for _, start := range starts {
					compared += compare(t, expr, start, loc)
				}
			}

			if compared < 1000 {
				t.Fatalf("only %d runs were compared", compared)
			}
		})
	}
}

// compare walks one schedule by both libraries, until enough runs or time has passed, and returns how many runs it compared.
func compare(t *testing.T, expr string, start time.Time, loc *time.Location) int {
	t.Helper()

	ours, err := unixcron.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}

	theirs, err := cron.ParseStandard(expr)
	if err != nil {
		t.Fatal(err)
	}

	const runs = 60

	until := start.AddDate(4, 0, 0)

	got := walk(start, until, runs, func(at time.Time) time.Time { return ours.Next(at, loc) })
	if len(got) == runs {
		until = got[runs-1]
	}

	want := walk(start.In(loc), until, 4*runs, theirs.Next)

	if diff := cmp.Diff(quiet(want, loc), quiet(got, loc)); diff != "" {
		t.Errorf("%s after %v (-robfig +ours):\n%s", expr, start, diff)
	}

	return len(quiet(got, loc))
}

func walk(from, until time.Time, limit int, next func(time.Time) time.Time) []time.Time {
	var runs []time.Time

	for at := next(from); len(runs) < limit && !at.IsZero() && !at.After(until); at = next(at) {
		runs = append(runs, at)
	}

	return runs
}

// quiet spells the runs, without those near a change of the clocks.
func quiet(runs []time.Time, loc *time.Location) []string {
	var spelled []string

	for _, at := range runs {
		_, before := at.Add(-nearTransition).In(loc).Zone()
		_, after := at.Add(nearTransition).In(loc).Zone()

		if before == after {
			spelled = append(spelled, at.Format(time.RFC3339))
		}
	}

	return spelled
}

// randomExpr is an expression that both libraries read, with a day in every year of four.
func randomExpr(random *rand.Rand) string {
	part := func(low, high int) string {
		low += random.IntN(high - low + 1)
		from := strconv.Itoa(low)
		to := strconv.Itoa(low + random.IntN(high-low+1))

		switch random.IntN(7) {
		case 0, 1:
			return from
		case 2:
			return from + "-" + to
		case 3:
			return from + "-" + to + "/" + strconv.Itoa(1+random.IntN(5))
		case 4:
			return "*/" + strconv.Itoa(1+random.IntN(6))
		case 5:
			return from + "," + to
		default:
			return "*"
		}
	}

	return strings.Join([]string{part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 6)}, " ")
}
