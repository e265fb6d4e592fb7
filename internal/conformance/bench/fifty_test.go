package bench_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFiftyDeliveriesAtOnceCostTwoCallsEach: the winner claims and finishes, every other one is refused and reads what is there. A
// call that the server gave up under contention is made again, so a few more are let pass.
func TestFiftyDeliveriesAtOnceCostTwoCallsEach(t *testing.T) {
	const deliveries, spare = 50, 10
	s := compare(t)
	fresh(t, s.ours)
	ours := s.atOnce(t, s.ours, deliveries)
	if ours.executed != 1 || ours.answers["executed"] != 1 || ours.answers["executed"]+ours.answers["in_progress"]+ours.answers["duplicate"] != deliveries {
		t.Errorf("executed %d times; answers %s", ours.executed, ours)
	}
	if ours.calls > 2*deliveries+spare {
		t.Errorf("%d calls of %d deliveries, want two each", ours.calls, deliveries)
	}
	if !measuring() { // the sample's transactions fight for most of a minute
		return
	}
	fresh(t, s.theirs)
	theirs := s.atOnce(t, s.theirs, deliveries)
	const section = "Fifty deliveries of one run at once, Firestore, against the sample's algorithm"
	row(t, section, "until all are answered", millis(ours.took), millis(theirs.took), times(float64(theirs.took)/float64(ours.took)))
	row(t, section, "calls", strconv.FormatInt(ours.calls, 10), strconv.FormatInt(theirs.calls, 10), times(float64(theirs.calls)/float64(ours.calls)))
	row(t, section, "answers", ours.String(), theirs.String(), "")
}

type burst struct {
	took     time.Duration
	calls    int64
	executed int64
	answers  map[string]int
}

func (b burst) String() string {
	var parts []string
	for _, answer := range slices.Sorted(maps.Keys(b.answers)) {
		short, _, _ := strings.Cut(answer, ":")
		parts = append(parts, fmt.Sprintf("%d %s", b.answers[answer], short))
	}
	return strings.Join(parts, ", ")
}

// atOnce delivers one run many times at once.
func (s *sides) atOnce(t *testing.T, deliver func(context.Context, string, func(context.Context) error) string, n int) burst {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var (
		b        = burst{answers: map[string]int{}}
		executed atomic.Int64
		mu       sync.Mutex
		all      sync.WaitGroup
		start    = make(chan struct{})
		id       = rand.Text()
		before   = s.wire.calls.Load()
	)
	for range n {
		all.Go(func() {
			<-start
			answer := deliver(ctx, id, func(context.Context) error {
				executed.Add(1)
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			b.answers[answer]++
		})
	}
	began := time.Now()
	close(start)
	all.Wait()
	b.took, b.calls, b.executed = time.Since(began), s.wire.calls.Load()-before, executed.Load()
	return b
}
