package localcloud

import (
	"context"
	"fmt"
	"time"
)

// trip is an attempt, or a late duplicate, that is in flight. It is guarded by the scheduler's mutex.
type trip struct {
	job string
	// cut is set once the attempt deadline has passed by the cloud's clock, so that the end is near.
	cut bool
}

// flights are all trips under way. It is guarded by the scheduler's mutex.
type flights map[*trip]struct{}

func (f flights) add(t *trip) { f[t] = struct{}{} }

func (f flights) remove(t *trip) { delete(f, t) }

// hoped counts the trips that are worth waiting for.
func (f flights) hoped(over map[string]bool) int {
	n := 0

	for t := range f {
		if t.cut || !over[t.job] {
			n++
		}
	}

	return n
}

// patience is how long one move of the clock waits for deliveries in flight.
type patience struct {
	limit time.Duration // zero: until they end
	// over names the jobs whose deliveries were waited for in vain. There is only a little patience with them from then on, or a
	// target that never answers would hold up each step anew.
	over map[string]bool
}

// endOfTime is far from where the arithmetic of times overflows, and from all that schedules are for.
func endOfTime() time.Time { return time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC) }

// littlePatience gives a target that did not answer before the chance to be called, and to answer, all the same.
const littlePatience = 50 * time.Millisecond

// advance moves the clock step by step over everything that is due on the way, letting deliveries land before each step and at the end.
func (s *scheduler) advance(ctx context.Context, by time.Duration) error {
	if by < 0 {
		return fmt.Errorf("advance by %s: time only moves forward", by)
	}

	target := s.cfg.Clock.Now().Add(by)
	if end := endOfTime(); target.After(end) {
		return fmt.Errorf("advance by %s: time ends at %s here", by, end.Format(time.DateOnly))
	}

	wait := &patience{limit: s.cfg.Settle, over: map[string]bool{}}

	for {
		err := s.settle(ctx, wait)
		if err != nil {
			return err
		}

		at, found := s.agenda.earliest()
		if !found || at.After(target) {
			s.cfg.Clock.Move(target)
			s.agenda.poke()

			return s.settle(ctx, wait)
		}

		s.cfg.Clock.Move(at)
		s.happen()
	}
}

// settle waits until no delivery is in flight or patience is over.
func (s *scheduler) settle(ctx context.Context, wait *patience) error {
	var over, brief <-chan time.Time

	if wait.limit > 0 {
		over, brief = time.After(wait.limit), time.After(min(wait.limit, littlePatience))
	}

	little := true

	for {
		landed := s.landed.changed()

		s.mu.Lock()
		all, hoped, closed := len(s.flights), s.flights.hoped(wait.over), s.closed
		s.mu.Unlock()

		switch {
		case closed:
			return errClosed
		case all == 0, hoped == 0 && !little:
			return nil
		}

		select {
		case <-landed:
		case <-brief:
			little = false
		case <-over:
			s.giveUp(wait)

			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for %d deliveries in flight: %w", all, context.Cause(ctx))
		}
	}
}

// giveUp remembers the jobs whose deliveries are still in flight.
func (s *scheduler) giveUp(wait *patience) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for t := range s.flights {
		wait.over[t.job] = true
	}
}
