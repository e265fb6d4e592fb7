package jobspec

import (
	"fmt"
	"testing"
	"time"
)

// each lists a value left out and given as each of these.
func each[T any](values ...T) []Value[T] {
	all := []Value[T]{Unset[T]()}
	for _, v := range values {
		all = append(all, Known(v))
	}
	return all
}

// TestNoDefaultFailsWhereAnyMinWouldPass walks partial retry configurations: where the default of min_backoff_duration loses a
// run, each other value of it must lose it too.
func TestNoDefaultFailsWhereAnyMinWouldPass(t *testing.T) {
	t.Parallel()
	const s = time.Second
	failed, passed := 0, 0
	for _, dedup := range []Deduplication{
		{},
		{Lease: Known(191 * s)},
		{Lease: Known(200500 * time.Millisecond)},
		{Wait: Known(true)},
		{RenewLease: Known(true), RequestTimeout: Known(40 * s)},
		{Lease: Known(120 * s), Wait: Known(true)},
	} {
		for _, deadline := range []time.Duration{15 * s, 180 * s} {
			for _, count := range each(0, 1, 2, 3, 5) {
				for _, limit := range each(0*s, 100*s, 235*s, 400*s, 405*s, 620*s, 3600*s) {
					for _, most := range each(1*s, 4500*time.Millisecond, 30*s, 44*s, 45*s, 62500*time.Millisecond, 100*s, 219500*time.Millisecond, 220*s, 500*s) {
						for _, doublings := range each(0, 1, 3, 16) {
							j := Job{
								AttemptDeadline: Known(deadline), Deduplication: dedup,
								Retry: Retry{Set: true, Count: count, MaxDuration: limit, MaxBackoff: most, MaxDoublings: doublings},
							}
							r := Derive(j).recovery.OrZero()
							name := fmt.Sprintf("D %s dedup %+v retry %+v: default min %s", deadline, dedup, j.Retry, r.min)
							if r.min <= 0 || r.max < r.min {
								t.Fatalf("%s is not a wait of at most %s", name, r.max)
							}
							if r.never() || r.survivesFirst() {
								passed++
								continue
							}
							failed++
							for least := 500 * time.Millisecond; least <= min(r.need()+s, most.Or(forever).OrZero()); least += 500 * time.Millisecond {
								if r.withMin(least, most).survivesFirst() {
									t.Fatalf("%s loses a run, %s does not", name, least)
								}
							}
						}
					}
				}
			}
		}
	}
	if failed == 0 || passed == 0 {
		t.Errorf("%d configurations failed, %d passed: the walk proves nothing", failed, passed)
	}
}

func TestDefaultsFollowFromWhatIsSet(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		retry    Retry
		dedup    Deduplication
		deadline time.Duration
		want     string
	}{
		"nothing":        {want: "5 0s 15s 1h0m0s 5"},
		"short deadline": {deadline: 15 * s, want: "5 0s 5s 1h0m0s 5"},
		"long deadline":  {deadline: 1800 * s, want: "5 0s 2m3s 1h0m0s 5"},
		"one retry":      {retry: Retry{Count: Known(1)}, want: "1 0s 3m40s 1h0m0s 5"},
		"two retries":    {retry: Retry{Count: Known(2)}, want: "2 0s 1m50s 1h0m0s 5"},
		"three retries":  {retry: Retry{Count: Known(3)}, want: "3 0s 1m14s 1h0m0s 5"},
		"one doubling":   {retry: Retry{MaxDoublings: Known(1)}, want: "5 0s 28s 1h0m0s 1"},
		"zeros, which the server reads as left out": {
			retry: Retry{MaxDoublings: Known(0), MinBackoff: Known(0 * s), MaxBackoff: Known(0 * s)}, want: "5 0s 5s 1h0m0s 5",
		},
		"a max that leaves room": {retry: Retry{MaxBackoff: Known(220 * s)}, want: "5 0s 15s 3m40s 5"},
		"a max that binds":       {retry: Retry{MaxBackoff: Known(60 * s)}, want: "5 0s 15s 1m0s 5"},
		"a max that only itself meets": {
			retry: Retry{MaxBackoff: Known(219900 * time.Millisecond), Count: Known(1)}, dedup: Deduplication{Lease: Known(209700 * time.Millisecond)},
			want: "1 0s 3m39.9s 3m39.9s 5",
		},
		"a max at its limit":          {retry: Retry{MaxBackoff: Known(44 * s)}, want: "5 0s 44s 44s 5"},
		"a max below 5 s":             {retry: Retry{MaxBackoff: Known(2 * s)}, want: "5 0s 2s 2s 5"},
		"a min above an hour":         {retry: Retry{MinBackoff: Known(2 * time.Hour)}, want: "5 0s 2h0m0s 32h0m0s 5"},
		"time only":                   {retry: Retry{Count: Known(0), MaxDuration: Known(400 * s)}, want: "0 6m40s 3m40s 1h0m0s 5"},
		"time only, too short":        {retry: Retry{Count: Known(0), MaxDuration: Known(399 * s)}, want: "0 6m39s 3m40s 1h0m0s 5"},
		"time only, a max that binds": {retry: Retry{Count: Known(0), MaxDuration: Known(405 * s), MaxBackoff: Known(60 * s)}, want: "0 6m45s 40s 1m0s 5"},
		"time beyond the count": {
			retry: Retry{Count: Known(1), MaxDuration: Known(405 * s), MaxBackoff: Known(60 * s)}, want: "1 6m45s 40s 1m0s 5",
		},
		"no retries": {retry: Retry{Count: Known(0)}, want: "0 0s 5s 1h0m0s 5"},
		"observe":    {dedup: Deduplication{Mode: Known(ModeObserve)}, want: "0 0s 5s 1h0m0s 5"},
	} {
		j := Job{Retry: test.retry, Deduplication: test.dedup}
		j.Retry.Set = true
		if test.deadline > 0 {
			j.AttemptDeadline = Known(test.deadline)
		}
		e := Derive(j).Retry
		got := fmt.Sprint(e.Count.OrZero(), e.MaxDuration.OrZero(), e.MinBackoff.OrZero(), e.MaxBackoff.OrZero(), e.MaxDoublings.OrZero())
		if got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}
