package bench_test

import (
	"slices"
	"testing"
	"time"
)

const (
	// leastRatio is how much faster than the sample's a fresh run must be when calls take 10 ms each. With 2 calls against 6 the
	// ceiling is 3.
	leastRatio = 2.7
	slowCall   = 10 * time.Millisecond
	section    = "Fresh run, Firestore, against the published sample's algorithm"
)

func TestAFreshRunTakesTwoCallsAgainstTheSamplesSix(t *testing.T) {
	s := compare(t)
	fresh(t, s.ours) // the first call opens the connection
	count := func(do func()) int64 {
		before := s.wire.calls.Load()
		do()
		return s.wire.calls.Load() - before
	}
	ours := count(func() { fresh(t, s.ours) })
	theirs := count(func() { fresh(t, s.theirs) })
	if ours != 2 || theirs != 6 {
		t.Errorf("ours takes %d calls, the sample's algorithm %d; want 2 and 6", ours, theirs)
	}
	row(t, section, "calls", "2", "6", times(float64(theirs)/float64(ours)))
}

// TestAFreshRunIsNearlyThreeTimesAsFastAsTheSamples compares the best of each side, since everything else on the machine only adds.
func TestAFreshRunIsNearlyThreeTimesAsFastAsTheSamples(t *testing.T) {
	if !measuring() {
		t.Skip(measurement)
	}
	s := compare(t)
	for range 5 { // the emulator is slow at first
		fresh(t, s.ours)
		fresh(t, s.theirs)
	}
	const rounds = 100
	var plain, slow pair
	s.alternate(t, &plain, 0, rounds)
	s.alternate(t, &slow, slowCall, rounds)
	plain.rows(t, "as the emulator answers")
	slow.rows(t, "10 ms added to each call")
	if ratio := slow.ratio(least); ratio < leastRatio {
		t.Errorf("a fresh run is %.2f times as fast as the sample's, want %.1f", ratio, leastRatio)
	}
}

// pair is how long each side took, run by run.
type pair struct{ ours, theirs []time.Duration }

func (p pair) ratio(of func([]time.Duration) time.Duration) float64 {
	return float64(of(p.theirs)) / float64(of(p.ours))
}

func (p pair) rows(t *testing.T, what string) {
	t.Helper()
	row(t, section, "median, "+what, millis(median(p.ours)), millis(median(p.theirs)), times(p.ratio(median)))
	row(t, section, "best, "+what, millis(slices.Min(p.ours)), millis(slices.Min(p.theirs)), times(p.ratio(least)))
}

// least is the shortest of the durations.
func least(d []time.Duration) time.Duration { return slices.Min(d) }

// alternate adds rounds of both sides in turn, so that what happens to the machine happens to both.
func (s *sides) alternate(t *testing.T, p *pair, delay time.Duration, rounds int) {
	t.Helper()
	s.wire.delay.Store(int64(delay))
	defer s.wire.delay.Store(0)
	for range rounds {
		p.ours = append(p.ours, fresh(t, s.ours))
		p.theirs = append(p.theirs, fresh(t, s.theirs))
	}
}
