package claim

import (
	"math"
	"testing"
	"time"
)

func TestLeaseArithmetic(t *testing.T) {
	t.Parallel()

	const s = time.Second

	tests := map[string]struct{ got, want time.Duration }{
		"lease by default":                     {DefaultLease(180*s, 0, false), 210 * s},
		"lease for a longer runtime":           {DefaultLease(180*s, 300*s, false), 330 * s},
		"lease when renewed":                   {DefaultLease(180*s, 300*s, true), 60 * s},
		"least lease":                          {MinLease(180*s, 60*s, false), 190 * s},
		"least lease for a longer runtime":     {MinLease(180*s, 300*s, false), 310 * s},
		"least lease when renewed":             {MinLease(1800*s, 0, true), 15 * s},
		"runtime by default":                   {Runtime(180*s, 0), 180 * s},
		"runtime given":                        {Runtime(180*s, 60*s), 60 * s},
		"blocked":                              {Blocked(210*s, 180*s, false), 210 * s},
		"blocked when renewed":                 {Blocked(60*s, 180*s, true), 240 * s},
		"margin at most 5 s":                   {Margin(210*s, 0), 5 * s},
		"margin of a short lease":              {Margin(15*s, 0), 1500 * time.Millisecond},
		"margin of the deadline":               {Margin(0, 20*s), 2 * s},
		"margin of the lesser":                 {Margin(20*s, 30*s), 2 * s},
		"renewal":                              {RenewEvery(60 * s), 20 * s},
		"least retention":                      {MinRetention(1000*s, 210*s), 4810 * s},
		"retention one day at least":           {DefaultRetention(1000*s, 210*s), 24 * time.Hour},
		"retention twice the least otherwise":  {DefaultRetention(24*time.Hour, 0), 50 * time.Hour},
		"recovery leaves room before a retry":  {Recovery, 10 * s},
		"forced only further than the slack":   {ForcedSlack, 30 * s},
		"margin without anything to go by":     {Margin(0, 0), 5 * s},
		"retention for more than 146 years":    {DefaultRetention(200*365*24*time.Hour, 0), math.MaxInt64},
		"least retention beyond all durations": {MinRetention(math.MaxInt64, 210*s), math.MaxInt64},
		"blocked beyond all durations":         {Blocked(math.MaxInt64, math.MaxInt64, true), math.MaxInt64},
		"lease beyond all durations":           {DefaultLease(math.MaxInt64, 0, false), math.MaxInt64},
		"lease for a runtime under a deadline": {DefaultLease(180*s, 60*s, false), 210 * s},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
}

func TestExpiryIsTheLatestPlusRetention(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct{ schedule, leaseEnd, want time.Time }{
		"store time":    {time.Time{}, time.Time{}, now},
		"schedule time": {now.Add(time.Hour), now.Add(time.Minute), now.Add(time.Hour)},
		"lease end":     {now.Add(-time.Hour), now.Add(time.Minute), now.Add(time.Minute)},
	} {
		if got := ExpireAt(now, tt.schedule, tt.leaseEnd, time.Hour); !got.Equal(tt.want.Add(time.Hour)) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want.Add(time.Hour))
		}
	}
}

func TestExpiryStaysWithinWhatStoresCanHold(t *testing.T) {
	t.Parallel()

	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if got := ExpireAt(last.AddDate(-1, 0, 0), last, time.Time{}, time.Hour); !got.Equal(last) {
		t.Errorf("got %v, want %v", got, last)
	}
}

func TestForcedIsFurtherAheadThanTheSlack(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]bool{-time.Hour: false, 0: false, 30 * time.Second: false, 30*time.Second + 1: true} {
		if got := Forced(now.Add(ahead), now); got != want {
			t.Errorf("%v ahead: forced %v, want %v", ahead, got, want)
		}
	}
}
