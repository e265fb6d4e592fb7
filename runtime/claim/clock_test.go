package claim

import (
	"testing"
	"time"
)

func TestTheClockThatComesFirstEndsALease(t *testing.T) {
	t.Parallel()

	var began moment

	began.mono = time.Now()
	began.wall = began.mono.UnixMicro()
	end := began.add(time.Minute)

	for name, test := range map[string]struct {
		mono, wall time.Duration // since then, by each of the clocks
		left       time.Duration
	}{
		"nothing amiss":          {59 * time.Second, 59 * time.Second, time.Second},
		"at the end":             {time.Minute, time.Minute, 0},
		"asleep":                 {time.Second, 2 * time.Minute, -time.Minute},
		"asleep, to the instant": {time.Second, time.Minute, 0},
		"wall clock set back":    {59 * time.Second, -time.Hour, time.Second},
		"set back, and too late": {61 * time.Second, -time.Hour, -time.Second},
		"set ahead":              {time.Second, 50 * time.Second, 10 * time.Second},
	} {
		now := moment{mono: began.mono.Add(test.mono), wall: began.wall + test.wall.Microseconds()}
		if got := now.until(end); got != test.left {
			t.Errorf("%s: %v left, want %v", name, got, test.left)
		}

		if got := now.reached(end); got != (test.left <= 0) {
			t.Errorf("%s: reached %v with %v left", name, got, test.left)
		}
	}
}

func TestTheEarlierOfTwoEndsIsSoByEachClock(t *testing.T) {
	t.Parallel()

	now := time.Now()
	short := moment{mono: now.Add(time.Second), wall: now.Add(time.Hour).UnixMicro()}
	long := moment{mono: now.Add(time.Minute), wall: now.Add(time.Minute).UnixMicro()}
	want := moment{mono: short.mono, wall: long.wall}

	if got := earlier(short, long); got != want {
		t.Errorf("got %v, want %v", got, want)
	}

	if got := earlier(long, short); got != want {
		t.Errorf("the other way round: got %v, want %v", got, want)
	}

	if got := earlier(short, moment{}); got != short {
		t.Errorf("without another end: got %v, want %v", got, short)
	}
}

func TestARequestThatIsSaidToComeLaterCameNow(t *testing.T) {
	t.Parallel()

	now := moment{mono: time.Now()}
	for name, test := range map[string]struct {
		arrived time.Time
		want    time.Duration
	}{
		"before": {now.mono.Add(-time.Second), time.Second},
		"later":  {now.mono.Add(time.Hour), 0},
		"unsaid": {time.Time{}, 0},
	} {
		if got := now.since(test.arrived); got != test.want {
			t.Errorf("%s: it came %v ago, want %v", name, got, test.want)
		}
	}
}

// An answer tells the store's clock to half of the time that it took; one that took too long, or came before it was asked for, tells
// nothing.
func TestAnAnswerTellsTheStoresClockUnlessItTookTooLong(t *testing.T) {
	t.Parallel()

	const before = 7 * time.Minute

	sent := moment{mono: time.Now(), wall: time.Now().UnixMicro()}
	for name, test := range map[string]struct {
		now   time.Duration // of the store, ahead of the moment of sending; negative: unknown
		took  time.Duration // by the wall clock
		known time.Duration
	}{
		"at once":            {time.Hour, 0, time.Hour},
		"half way":           {time.Hour, 2 * time.Second, time.Hour - time.Second},
		"just in time":       {time.Hour, slowest, time.Hour - slowest/2},
		"too late":           {time.Hour, slowest + time.Microsecond, before},
		"asleep for a year":  {time.Hour, 365 * 24 * time.Hour, before},
		"clock set back":     {time.Hour, -time.Microsecond, before},
		"a store without it": {-1, 0, before},
	} {
		var c clock

		c.offset.Store(before.Microseconds())

		var now time.Time
		if test.now >= 0 {
			now = time.UnixMicro(sent.wall).Add(test.now)
		}

		c.learn(now, sent, moment{mono: sent.mono, wall: sent.wall + test.took.Microseconds()})

		if got := microseconds(c.offset.Load()); got != test.known {
			t.Errorf("%s: the store is %v ahead, want %v", name, got, test.known)
		}

		if got := c.store(sent); !got.Equal(time.UnixMicro(sent.wall).Add(test.known)) {
			t.Errorf("%s: its time is %v", name, got)
		}
	}
}
