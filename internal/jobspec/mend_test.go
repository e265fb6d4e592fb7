package jobspec

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// retryOf draws a retry_config, of which anything may be left out, for a lease of any length.
func retryOf(t *rapid.T) Job {
	whole := func(name string, most int64) time.Duration {
		return time.Duration(rapid.Int64Range(1, most).Draw(t, name)) * 500 * time.Millisecond
	}
	j := Job{AttemptDeadline: Known(minDeadline + whole("deadline", 2000)), Retry: Retry{Set: true}}
	j.Deduplication.Wait = Known(rapid.Bool().Draw(t, "wait"))
	if rapid.Bool().Draw(t, "count given") {
		j.Retry.Count = Known(rapid.IntRange(0, 5).Draw(t, "count"))
	}
	if rapid.Bool().Draw(t, "limit given") {
		j.Retry.MaxDuration = Known(whole("limit", 4000))
	}
	if rapid.Bool().Draw(t, "max given") {
		j.Retry.MaxBackoff = Known(whole("max", 1000))
	}
	if rapid.Bool().Draw(t, "min given") {
		j.Retry.MinBackoff = Known(min(whole("min", 200), j.Retry.MaxBackoff.Or(forever).OrZero()))
	}
	if rapid.Bool().Draw(t, "doublings given") {
		j.Retry.MaxDoublings = Known(rapid.IntRange(0, 8).Draw(t, "doublings"))
	}
	return j
}

// apply is the job after the mend, less of it by that much.
func (m mend) apply(j Job, less time.Duration) Job {
	if m.least > 0 {
		j.Retry.MinBackoff = Known(m.least - less)
	}
	if m.most > 0 && (less == 0 || m.least == 0) {
		j.Retry.MaxBackoff = Known(m.most - less)
	}
	if m.limit > 0 {
		j.Retry.MaxDuration = Known(m.limit - less)
	}
	return j
}

func TestARemedyMendsAndNothingSmallerDoes(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		mend func(recovery, given) mend
		ok   func(recovery) bool
		when func(recovery) bool
	}{
		"first": {recovery.mendFirst, recovery.survivesFirst, func(r recovery) bool { return !r.never() && !r.survivesFirst() }},
		"any":   {recovery.mendAny, recovery.survivesAny, func(r recovery) bool { return r.survivesFirst() && !r.survivesAny() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				j := retryOf(t)
				r := Derive(j).recovery.OrZero()
				if !of.when(r) {
					t.Skip("nothing to mend")
				}
				m := of.mend(r, given{j.Retry.MinBackoff, j.Retry.MaxBackoff})
				if after := Derive(m.apply(j, 0)).recovery.OrZero(); !of.ok(after) || !after.survivesFirst() || after.min > after.max {
					t.Fatalf("%+v does not mend %+v: it gives %+v", m, j.Retry, after)
				}
				if j.Retry.MinBackoff.IsSet() && r.limit > 0 && m.limit == 0 {
					return // a smaller wait can fit more retries into the time; the remedy is one that more of it does not undo
				}
				zero := m.least == 0 && m.most == time.Second // is the server's default, and not smaller
				if after := Derive(m.apply(j, time.Second)).recovery.OrZero(); of.ok(after) && after.min > 0 && !zero {
					t.Fatalf("%+v mends %+v, and so does a second less: it gives %+v", m, j.Retry, after)
				}
				if m.count > 0 {
					j.Retry.Count = Known(m.count)
					if after := Derive(j).recovery.OrZero(); !of.ok(after) {
						t.Fatalf("retry_count %d does not mend %+v: it gives %+v", m.count, j.Retry, after)
					}
				}
			})
		})
	}
}

func TestSumsOfWaitsAreThoseOfTheWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := backoff{
			min:       time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "min")),
			max:       time.Duration(rapid.Int64Range(1, int64(100*time.Hour)).Draw(t, "max")),
			doublings: rapid.IntRange(0, 70).Draw(t, "doublings"),
		}
		var sum time.Duration
		for k := range 100 {
			if got := b.start(k); got != sum {
				t.Fatalf("%+v: retry %d starts at %s, the waits before it add up to %s", b, k, got, sum)
			}
			if last := b.lastBy(sum, 0); last < k || b.start(last) > sum || b.start(last+1) <= sum {
				t.Fatalf("%+v: the last retry by %s is %d", b, sum, last)
			}
			sum = plus(sum, b.interval(k))
		}
	})
}

func TestWaitsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	b := backoff{min: 10 * time.Second, max: 300 * time.Second, doublings: 3}
	for k, want := range []int{10, 20, 40, 80, 160, 240, 300, 300} {
		if got := b.interval(k); got != time.Duration(want)*time.Second {
			t.Errorf("wait %d is %s, want %ds", k, got, want)
		}
	}
}

func TestExtremeSettingsDoNotOverflow(t *testing.T) {
	t.Parallel()
	for _, retry := range []Retry{
		{MinBackoff: Known(forever), MaxBackoff: Known(forever)},
		{MinBackoff: Known(time.Nanosecond), MaxBackoff: Known(forever), MaxDuration: Known(forever), MaxDoublings: Known(1 << 40)},
		{MinBackoff: Known(time.Nanosecond), MaxBackoff: Known(time.Nanosecond), MaxDuration: Known(forever), MaxDoublings: Known(0)},
		{MinBackoff: Known(-forever), MaxBackoff: Known(-forever), MaxDuration: Known(-forever), MaxDoublings: Known(-1), Count: Known(-1)},
		{MaxDuration: Known(forever), Count: Known(0)},
		{MaxBackoff: Known(time.Duration(0))},
	} {
		d := Derive(Job{Retry: retry})
		if d.Horizon.OrZero() < 0 || d.Deduplication.Retention.OrZero() < 0 || len(d.Timetable()) > longestTimetable {
			t.Errorf("%+v: horizon %s, retention %s, %d attempts", retry, d.Horizon.OrZero(), d.Deduplication.Retention.OrZero(), len(d.Timetable()))
		}
		for _, f := range Check(Job{Retry: retry}) {
			if f.Summary == "" {
				t.Errorf("%+v: empty finding %v", retry, f)
			}
		}
	}
}
