package unixcron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

func TestTimesThatChangesOfTheClocksSkipOrRepeatAreListed(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		expr, zone string
		after      time.Time
		n          int
		want       string
	}{
		{
			"30 2 * * *", "Europe/Berlin", utc(2026, 11, 30, 0, 0), 3,
			"2027-03-28 02:30 skipped\n" +
				"2027-10-31 02:30 repeated 2027-10-31T02:30:00+02:00 2027-10-31T02:30:00+01:00\n" +
				"2028-03-26 02:30 skipped\n",
		},
		{"0 3 * * *", "Europe/Berlin", utc(2026, 11, 30, 0, 0), 3, ""},
		{"30 2 * * *", "Etc/UTC", utc(2026, 11, 30, 0, 0), 3, ""},
		{"30 2 * * *", "Asia/Kathmandu", utc(2026, 11, 30, 0, 0), 3, ""},
		{"30 2 * * *", "Europe/Berlin", utc(2026, 11, 30, 0, 0), 0, ""},
		{
			"*/30 * * * *", "Europe/Berlin", utc(2044, 3, 27, 0, 59), 5,
			"2044-03-27 02:00 skipped\n2044-03-27 02:30 skipped\n" +
				"2044-10-30 02:00 repeated 2044-10-30T02:00:00+02:00 2044-10-30T02:00:00+01:00\n" +
				"2044-10-30 02:30 repeated 2044-10-30T02:30:00+02:00 2044-10-30T02:30:00+01:00\n" +
				"2045-03-26 02:00 skipped\n",
		},
		{"30 2 * * *", "Europe/Berlin", utc(2044, 3, 27, 1, 0), 1, "2044-10-30 02:30 repeated 2044-10-30T02:30:00+02:00 2044-10-30T02:30:00+01:00\n"},
		{"*/15 2 * * *", "Australia/Lord_Howe", utc(2027, 5, 1, 0, 0), 2, "2027-10-03 02:00 skipped\n2027-10-03 02:15 skipped\n"},
		{"0 9,21 * * *", "Pacific/Apia", utc(2011, 12, 1, 0, 0), 3, "2011-12-30 09:00 skipped\n2011-12-30 21:00 skipped\n"},
		{"30 2 31 3 *", "Europe/Berlin", utc(2026, 11, 30, 0, 0), 2, "2030-03-31 02:30 skipped\n2041-03-31 02:30 skipped\n"},
		{"30 2 29 2 *", "Europe/Berlin", utc(2026, 11, 30, 0, 0), 2, ""},
	} {
		got := spell(mustParse(t, test.expr).NextAffected(test.after, mustLoad(t, test.zone), test.n))
		if got != test.want {
			t.Errorf("%s in %s after %v:\n got %s\nwant %s", test.expr, test.zone, test.after, got, test.want)
		}
	}
}

const wallLayout = "2006-01-02 15:04"

func spell(affected []unixcron.Affected) string {
	var b strings.Builder

	for _, a := range affected {
		b.WriteString(a.Wall + " " + string(a.Kind))

		for _, at := range a.At {
			b.WriteString(" " + at.Format(time.RFC3339))
		}

		b.WriteString("\n")
	}

	return b.String()
}

func TestAffectedTimesAreThoseThatTheScheduleMissesOrFiresTwice(t *testing.T) {
	t.Parallel()

	for _, window := range transitions() {
		loc := mustLoad(t, window.zone)
		schedule := mustParse(t, "*/10 * * * *")

		var fired []string
		for _, at := range runs("*/10 * * * *", window.from, window.to, loc) {
			fired = append(fired, at.Format(wallLayout))
		}

		checked := 0

		for _, a := range schedule.NextAffected(window.from, loc, 200) {
			if len(fired) == 0 || a.Wall >= fired[len(fired)-1] {
				break
			}

			count := 0

			for _, wall := range fired {
				if wall == a.Wall {
					count++
				}
			}

			if want := map[unixcron.AffectedKind]int{unixcron.Skipped: 0, unixcron.Repeated: 2}[a.Kind]; count != want || len(a.At) != want {
				t.Errorf("%s: %s %s fires %d times, at %v", window.name, a.Wall, a.Kind, count, a.At)
			}

			for _, at := range a.At {
				if !slices.Contains(fired, at.Format(wallLayout)) {
					t.Errorf("%s: %s does not fire at %v", window.name, a.Wall, at)
				}
			}

			checked++
		}

		if changes := !strings.Contains(window.name, "turn of a leap year"); changes != (checked > 0) {
			t.Errorf("%s: %d times are affected", window.name, checked)
		}
	}
}
