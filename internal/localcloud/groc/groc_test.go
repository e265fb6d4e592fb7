package groc_test

import (
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud/groc"
)

func TestSchedulesAreDueWhenTheReferenceSays(t *testing.T) {
	t.Parallel()

	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}

	for expr, tc := range map[string]struct {
		after string
		zone  *time.Location
		want  []string
	}{
		"every 5 minutes from 10:00 to 10:12":  {"2026-10-16T10:04:00Z", time.UTC, []string{"2026-10-16T10:05:00Z", "2026-10-16T10:10:00Z", "2026-10-17T10:00:00Z"}},
		"every 90 minutes from 22:00 to 02:00": {"2026-10-16T23:45:00Z", time.UTC, []string{"2026-10-17T01:00:00Z", "2026-10-17T22:00:00Z"}},
		"every 90 minutes synchronized":        {"2026-10-16T22:31:00Z", time.UTC, []string{"2026-10-17T00:00:00Z", "2026-10-17T01:30:00Z"}},
		"1st monday of jan 17:00":              {"2026-01-05T16:59:00Z", time.UTC, []string{"2026-01-05T17:00:00Z", "2027-01-04T17:00:00Z"}},
		"first, third tue 9:00":                {"2026-10-06T09:00:00Z", time.UTC, []string{"2026-10-20T09:00:00Z", "2026-11-03T09:00:00Z"}},
		"5th thursday of month 06:30":          {"2026-10-16T00:00:00Z", time.UTC, []string{"2026-10-29T06:30:00Z", "2026-12-31T06:30:00Z"}},
		"2nd day of quarter 9:00":              {"2026-10-16T00:00:00Z", time.UTC, []string{"2027-01-02T09:00:00Z"}},
		"every mon,wed of sept,oct 09:00":      {"2026-10-28T10:00:00Z", time.UTC, []string{"2027-09-01T09:00:00Z"}},
		"31 of month 08:00":                    {"2026-10-31T08:00:00Z", time.UTC, []string{"2026-12-31T08:00:00Z"}},
		"every day 03:00":                      {"2026-10-24T12:00:00Z", berlin, []string{"2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"}},
		"30 of feb 9:00":                       {"2026-10-16T00:00:00Z", time.UTC, []string{"0001-01-01T00:00:00Z"}},
	} {
		s, ok := groc.Parse(expr)
		if !ok || s.FromEnd() != 0 {
			t.Errorf("%s: understood %t, from end %s", expr, ok, s.FromEnd())

			continue
		}

		at, err := time.Parse(time.RFC3339, tc.after)
		if err != nil {
			t.Fatal(err)
		}

		for _, want := range tc.want {
			at = s.Next(at, tc.zone)
			if got := at.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%s: %s, want %s", expr, got, want)
			}
		}
	}
}

func TestIntervalsCountFromTheEndOfTheRunBefore(t *testing.T) {
	t.Parallel()

	for expr, want := range map[string]time.Duration{
		"every 5 minutes": 5 * time.Minute, "EVERY 7 mins": 7 * time.Minute, "every hour": time.Hour, "every 36 hours": 36 * time.Hour,
	} {
		s, ok := groc.Parse(expr)
		if !ok || s.FromEnd() != want || !s.Next(time.Now(), time.UTC).IsZero() {
			t.Errorf("%s: understood %t, from end %s", expr, ok, s.FromEnd())
		}
	}
}

func TestWhatIsNoGrocIsRefused(t *testing.T) {
	t.Parallel()

	for _, expr := range []string{
		"", "every", "every 5", "every 0 minutes", "every -5 minutes", "every 5 days", "every 5 minutes at 10:00", "every 5 minutes from 10:00",
		"every 5 minutes from 25:00 to 26:00", "every 5 minutes from 10 to 14", "every 7 minutes synchronized", "every 99999999999999999999 hours",
		"every day", "every day 24:00", "every day 9:5", "every someday 9:00", "every mon of never 9:00", "32 of month 9:00", "every mon tue 9:00",
		"6th monday 9:00", "x of month 9:00", "of 9:00", "* * * * *", "every ma 9:00",
	} {
		if s, ok := groc.Parse(expr); ok {
			t.Errorf("%q is read as %+v", expr, s)
		}
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	f.Add("every 5 minutes from 10:00 to 14:00")
	f.Add("1st,third monday of jan,sept 17:00")
	f.Fuzz(func(t *testing.T, expr string) {
		s, ok := groc.Parse(expr)
		after := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)

		if at := s.Next(after, time.UTC); ok && !at.IsZero() && !at.After(after) {
			t.Errorf("%q: next %s is not after %s", expr, at, after)
		}
	})
}
