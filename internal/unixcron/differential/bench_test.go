package differential_test

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// BenchmarkNext walks five schedules through Europe/Berlin with this package and with robfig/cron, from the same start, each step
// from the run before, and reports how many times as long robfig/cron takes (x-robfig). Both walks are part of one benchmark, in
// turns, so that a busy machine weighs on both.
func BenchmarkNext(b *testing.B) {
	for _, named := range []struct{ name, expr string }{
		{"every five minutes", "*/5 * * * *"},
		{"working hours", "0 9-17 * * MON-FRI"},
		{"nightly", "30 3 * * *"},
		{"monthly", "15 4 1 * *"},
		{"leap day", "0 0 29 2 *"},
	} {
		b.Run(named.name, func(b *testing.B) {
			loc := berlin(b)

			ours, err := unixcron.Parse(named.expr)
			if err != nil {
				b.Fatal(err)
			}

			theirs, err := cron.ParseStandard(named.expr)
			if err != nil {
				b.Fatal(err)
			}

			const (
				batch = 16 // leap days within the five years that robfig/cron looks ahead, which 2096 to 2104 is not
				turn  = 32 // rounds of ours for each of theirs
			)

			start := time.Date(2026, time.November, 30, 12, 0, 0, 0, loc)

			var (
				spent, theirSpent time.Duration
				rounds            int
				last              time.Time
			)

			b.ReportAllocs()

			for b.Loop() {
				began := time.Now()
				last = start

				for range batch {
					last = ours.Next(last, loc)
				}

				spent += time.Since(began)
				rounds++

				if rounds%turn != 1 {
					continue
				}

				b.StopTimer()

				began = time.Now()
				same := start

				for range batch {
					same = theirs.Next(same)
				}

				theirSpent += time.Since(began)

				if !same.Equal(last) {
					b.Fatalf("after %d runs: %v, robfig/cron has %v", batch, last, same)
				}

				b.StartTimer()
			}

			perRun := float64(spent.Nanoseconds()) / float64(rounds*batch)
			theirPerRun := float64(theirSpent.Nanoseconds()) / float64((rounds+turn-1)/turn*batch)

			b.ReportMetric(perRun, "ns/run")
			b.ReportMetric(theirPerRun, "robfig-ns/run")
			b.ReportMetric(theirPerRun/perRun, "x-robfig")
		})
	}
}

func berlin(tb testing.TB) *time.Location {
	tb.Helper()

	loc, err := unixcron.LoadLocation("Europe/Berlin")
	if err != nil {
		tb.Fatal(err)
	}

	return loc
}
