package unixcron_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// transitions are stretches around changes of zones that go wrong in their own ways.
func transitions() []struct {
	name, zone string
	from, to   time.Time
} {
	return []struct {
		name, zone string
		from, to   time.Time
	}{
		{"an hour skipped", "Europe/Berlin", utc(2027, 3, 27, 20, 0), utc(2027, 3, 29, 4, 0)},
		{"an hour repeated", "Europe/Berlin", utc(2027, 10, 30, 20, 0), utc(2027, 11, 1, 4, 0)},
		{"an hour skipped beyond the table", "Europe/Berlin", utc(2044, 3, 26, 20, 0), utc(2044, 3, 28, 4, 0)},
		{"an hour skipped to the west", "America/New_York", utc(2027, 3, 13, 20, 0), utc(2027, 3, 15, 4, 0)},
		{"an hour repeated to the west", "America/New_York", utc(2027, 11, 6, 20, 0), utc(2027, 11, 8, 4, 0)},
		{"half an hour skipped", "Australia/Lord_Howe", utc(2027, 10, 2, 8, 0), utc(2027, 10, 3, 20, 0)},
		{"half an hour repeated", "Australia/Lord_Howe", utc(2027, 4, 3, 8, 0), utc(2027, 4, 4, 20, 0)},
		{"a day skipped", "Pacific/Apia", utc(2011, 12, 29, 0, 0), utc(2012, 1, 1, 12, 0)},
		{"a day repeated", "Pacific/Kwajalein", utc(1969, 9, 29, 0, 0), utc(1969, 10, 2, 12, 0)},
		{"a quarter of an hour skipped", "Asia/Kathmandu", utc(1985, 12, 31, 6, 0), utc(1986, 1, 1, 6, 0)},
		{"midnight skipped", "America/Sao_Paulo", utc(2018, 11, 3, 12, 0), utc(2018, 11, 5, 12, 0)},
		{"summer at the turn of a leap year", "Australia/Sydney", utc(2040, 12, 30, 6, 0), utc(2041, 1, 1, 20, 0)},
		{"winter at the turn of a leap year", "Europe/Berlin", utc(2048, 12, 30, 6, 0), utc(2049, 1, 1, 20, 0)},
	}
}

func TestNextAndPrevFindWhatLookingAtEveryMinuteFinds(t *testing.T) {
	t.Parallel()

	exprs := []string{
		"* * * * *", "*/5 * * * *", "30 2 * * *", "0 3 * * *", "15,45 1-3 * * *", "0 0 * * *", "59 23 * * *", "0 */2 * * *",
		"30 2 28 3 *", "0 0 30 12 *", "30 1 * * SUN", "*/7 0-2 1 * 5", "45 23 31 12 *",
	}

	for _, window := range transitions() {
		t.Run(window.name+" in "+window.zone, func(t *testing.T) {
			t.Parallel()

			loc := mustLoad(t, window.zone)
			for _, expr := range exprs {
				want := runs(numbered(expr), window.from, window.to, loc)
				checkWalks(t, expr, window.from, window.to, loc, want)
			}
		})
	}
}

// checkWalks walks a schedule forth and back through a stretch of time.
func checkWalks(t *testing.T, expr string, from, to time.Time, loc *time.Location, want []time.Time) {
	t.Helper()

	schedule := mustParse(t, expr)

	var forth []time.Time
	for at := schedule.Next(from.Add(-1), loc); !at.IsZero() && !at.After(to); at = schedule.Next(at, loc) {
		forth = append(forth, at)
	}

	if !slices.EqualFunc(forth, want, time.Time.Equal) {
		t.Errorf("%s forth in %s:\n got %v\nwant %v", expr, loc, forth, want)
	}

	var back []time.Time
	for at := schedule.Prev(to.Add(1), loc); !at.IsZero() && !at.Before(from); at = schedule.Prev(at, loc) {
		back = append(back, at)
	}

	slices.Reverse(back)

	if !slices.EqualFunc(back, want, time.Time.Equal) {
		t.Errorf("%s back in %s:\n got %v\nwant %v", expr, loc, back, want)
	}
}

func TestAnInstantFiresIffItsWallClockMatchesInEveryZone(t *testing.T) {
	t.Parallel()

	random := rand.New(rand.NewPCG(2026, 11))
	changes := 0

	for _, name := range zoneList(t) {
		loc := mustLoad(t, name)

		for _, beforeChange := range []bool{false, true} {
			from := utc(1975, 1, 1, 0, 0).Add(time.Duration(random.Int64N(int64(90 * 365 * 24 * time.Hour)))).Truncate(time.Minute)

			if _, change := from.In(loc).ZoneBounds(); beforeChange && !change.IsZero() {
				from = change.Add(-15 * time.Hour)
				changes++
			}

			to := from.Add(30 * time.Hour)
			for range 2 {
				expr := randomExpr(random)
				checkWalks(t, expr, from, to, loc, runs(expr, from, to, loc))
			}
		}
	}

	if changes < 100 {
		t.Errorf("only %d changes of the clocks were met", changes)
	}
}

func TestSparseSchedulesAreFoundFarAway(t *testing.T) {
	t.Parallel()

	berlin := mustLoad(t, "Europe/Berlin")

	for _, test := range []struct {
		expr  string
		after time.Time
		next  string
		prev  string
	}{
		{"0 0 29 2 *", utc(2096, 2, 29, 12, 0), "2104-02-29T00:00:00+01:00", "2096-02-29T00:00:00+01:00"},
		{"0 0 29 2 *", utc(2027, 6, 1, 0, 0), "2028-02-29T00:00:00+01:00", "2024-02-29T00:00:00+01:00"},
		{"30 2 31 3 *", utc(2024, 3, 31, 0, 0), "2025-03-31T02:30:00+02:00", "2023-03-31T02:30:00+02:00"},
		{"0 0 31 12 *", utc(2040, 12, 31, 0, 0), "2041-12-31T00:00:00+01:00", "2040-12-31T00:00:00+01:00"},
		{"59 23 31 12 *", utc(9999, 6, 1, 0, 0), "9999-12-31T23:59:00+01:00", "9998-12-31T23:59:00+01:00"},
		{"0 12 1 1 *", utc(9999, 6, 1, 0, 0), "", "9999-01-01T12:00:00+01:00"},
		{"0 12 * * *", utc(20000, 1, 1, 0, 0), "", "9999-12-31T12:00:00+01:00"},
		{"0 0 2 1 *", utc(-400, 1, 1, 0, 0), "0001-01-02T00:00:00+00:53", ""},
		{"0 12 1 1 *", time.Time{}, "0001-01-01T12:00:00+00:53", ""},
	} {
		schedule := mustParse(t, test.expr)

		if got := stamp(schedule.Next(test.after, berlin)); got != test.next {
			t.Errorf("%s: next after %v is %q, want %q", test.expr, test.after, got, test.next)
		}

		if got := stamp(schedule.Prev(test.after, berlin)); got != test.prev {
			t.Errorf("%s: previous before %v is %q, want %q", test.expr, test.after, got, test.prev)
		}
	}
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}

	return at.Format(time.RFC3339)
}

func TestNextIsStrictlyAfterAndPrevStrictlyBefore(t *testing.T) {
	t.Parallel()

	schedule := mustParse(t, "0 12 * * *")
	noon := utc(2027, 5, 5, 12, 0)

	for _, test := range []struct {
		at         time.Time
		next, prev time.Time
	}{
		{noon, noon.AddDate(0, 0, 1), noon.AddDate(0, 0, -1)},
		{noon.Add(-1), noon, noon.AddDate(0, 0, -1)},
		{noon.Add(1), noon.AddDate(0, 0, 1), noon},
	} {
		if got := schedule.Next(test.at, time.UTC); !got.Equal(test.next) {
			t.Errorf("next after %v is %v, want %v", test.at, got, test.next)
		}

		if got := schedule.Prev(test.at, nil); !got.Equal(test.prev) {
			t.Errorf("previous before %v is %v, want %v", test.at, got, test.prev)
		}
	}
}

func TestSecondsInTheOffsetOfAZoneMoveTheRuns(t *testing.T) {
	t.Parallel()

	monrovia := mustLoad(t, "Africa/Monrovia") // 44 minutes and 30 seconds behind UTC until 1972
	got := mustParse(t, "0 * * * *").Next(utc(1970, 1, 1, 0, 0), monrovia)

	if want := time.Date(1970, 1, 1, 0, 44, 30, 0, time.UTC); !got.Equal(want) {
		t.Errorf("next is %v, want %v", got.UTC(), want)
	}
}

func TestTheZeroScheduleNeverFires(t *testing.T) {
	t.Parallel()

	var none unixcron.Schedule

	if got := none.Next(utc(2027, 1, 1, 0, 0), time.UTC); !got.IsZero() {
		t.Errorf("next is %v", got)
	}

	if got := none.Prev(utc(2027, 1, 1, 0, 0), time.UTC); !got.IsZero() {
		t.Errorf("previous is %v", got)
	}

	if none.Describe() != "" || none.ShortestInterval() != 0 || none.BothDaysRestricted() || none.EveryHour() ||
		none.NextAffected(utc(2027, 1, 1, 0, 0), mustLoad(t, "Europe/Berlin"), 1) != nil {
		t.Error("the zero Schedule says something about itself")
	}
}

// TestNextAndPrevAllocateNothing runs alone: testing.AllocsPerRun counts what other tests allocate.
func TestNextAndPrevAllocateNothing(t *testing.T) {
	for _, name := range []string{"Etc/UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		loc := mustLoad(t, name)

		for _, expr := range []string{"*/5 * * * *", "0 9-17 * * MON-FRI", "30 2 * * *", "0 0 29 2 *", "0 0 13 * FRI"} {
			schedule := mustParse(t, expr)

			for _, at := range []time.Time{utc(2026, 11, 30, 12, 0), utc(2044, 3, 27, 0, 59)} {
				var kept time.Time

				allocations := testing.AllocsPerRun(100, func() {
					kept = schedule.Prev(schedule.Next(at, loc), loc)
				})

				if allocations != 0 || kept.IsZero() {
					t.Errorf("%s in %s: %v allocations, %v", expr, name, allocations, kept)
				}
			}
		}
	}
}
