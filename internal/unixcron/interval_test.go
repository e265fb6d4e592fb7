package unixcron_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestShortestIntervalOverAllYears(t *testing.T) {
	t.Parallel()

	const day = 24 * time.Hour

	for expr, want := range map[string]time.Duration{
		"* * * * *":          time.Minute,
		"*/5 * * * *":        5 * time.Minute,
		"*/7 * * * *":        4 * time.Minute,
		"0 * * * *":          time.Hour,
		"0 */5 * * *":        4 * time.Hour,
		"58 23 * * *":        day,
		"0,1 0,23 * * *":     time.Minute,
		"0 1,23 * * *":       2 * time.Hour,
		"0 1,23 * * MON":     22 * time.Hour,
		"0 3 * * MON-FRI":    day,
		"0 3 * * MON,THU":    3 * day,
		"0 3 * * SUN":        7 * day,
		"0 0 1 * *":          28 * day,
		"0 0 31 * *":         31 * day,
		"0 0 1 1 *":          365 * day,
		"0 0 28 2,3 *":       28 * day,
		"0 0 29 2 *":         1461 * day,
		"0 0 29 2,3 *":       29 * day,
		"0 0 13 * FRI":       day,
		"0 0 1,31 * *":       day,
		"0 12 1 JAN,DEC *":   31 * day,
		"0 0 31 12 7":        day,
		"59 23 1,2 1 *":      day,
		"15 6,18 1,15 * *":   12 * time.Hour,
		"0 22-23,0-2 * * 1":  time.Hour,
		"0 23,0 * * SAT,SUN": time.Hour,
	} {
		if got := mustParse(t, expr).ShortestInterval(); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

func TestNoTwoRunsInUTCAreCloserThanTheShortestIntervalAndSomeAreThatClose(t *testing.T) {
	t.Parallel()

	random := rand.New(rand.NewPCG(7, 7))

	for range 150 {
		expr := randomExpr(random)
		schedule := mustParse(t, expr)
		until := utc(2030, 1, 1, 0, 0)
		closest := 100 * 365 * 24 * time.Hour

		// Twenty-eight years hold every order of weekdays and leap days of this century.
		at := schedule.Next(utc(2001, 12, 31, 23, 59), time.UTC)
		for steps := 0; at.Before(until) && steps < 200_000; steps++ {
			next := schedule.Next(at, time.UTC)
			closest = min(closest, next.Sub(at))
			at = next
		}

		if got := schedule.ShortestInterval(); got != closest {
			t.Errorf("%s: %v, but the closest runs are %v apart", expr, got, closest)
		}
	}
}
