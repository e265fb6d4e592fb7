package claim

import (
	"errors"
	"sync"
	"time"
)

// unseen are the claims whose end nobody has seen: writes that an outage left open. One goroutine sees to all of them, so that a store
// that comes back is not asked for each at once, and one that does not is asked once a pause.
type unseen struct {
	mu    sync.Mutex
	open  []*claiming
	busy  bool          // the goroutine runs
	added chan struct{} // holds one item when it is to look soon
}

// soon is how long after it was left open a claim is looked at first.
const soon = 10 * firstPause

// later reads a claim back in the background until it is seen, or its lease would be over, and releases it: nothing ran. It goes on
// with a copy, so that claims which need none of this stay off the heap.
func (w *claiming) later() {
	w.c.stay()

	rest := *w
	u := &w.c.unseen

	u.mu.Lock()
	defer u.mu.Unlock()

	u.open = append(u.open, &rest)

	if !u.busy {
		u.busy = true

		go w.c.giveBack()

		return
	}

	u.hasten()
}

// hasten has the goroutine, if it runs, look soon.
func (u *unseen) hasten() {
	select {
	case u.added <- struct{}{}:
	default: // it knows already
	}
}

// giveBack looks at the open claims until there are none, soon at first and whenever there is a new one, then less and less often.
func (c *Claimer) giveBack() {
	wait := soon
	next := time.Now().Add(wait)

	timer := time.NewTimer(wait)
	defer timer.Stop()

	for {
		select {
		case <-c.background.Done():
			c.forget()

			return
		case <-c.unseen.added:
			wait = soon
			// Never put off: new claims can come faster than that, for as long as an outage lasts.
			if at := time.Now().Add(wait); at.Before(next) {
				next = at

				timer.Reset(wait)
			}

			continue
		case <-timer.C:
		}

		shortest, left := c.look()
		if !left {
			return
		}

		wait = min(2*wait, 10*maxPause, max(shortest/10, firstPause))
		next = time.Now().Add(wait)

		timer.Reset(wait)
	}
}

// forget gives the open claims up.
func (c *Claimer) forget() {
	c.unseen.mu.Lock()
	defer c.unseen.mu.Unlock()

	for range c.unseen.open {
		c.leave()
	}

	c.unseen.open, c.unseen.busy = nil, false
}

// look reads each open claim once, but none after one that cannot be read: that one is the last the next time. It returns the
// shortest of their leases, and whether any is left.
func (c *Claimer) look() (shortest time.Duration, left bool) {
	u := &c.unseen

	u.mu.Lock()
	todo := u.open
	u.open = nil
	u.mu.Unlock()

	var rest []*claiming // seen, and still open

	for i, w := range todo {
		done, err := w.released()
		if err != nil {
			rest = append(append(append([]*claiming(nil), todo[i+1:]...), rest...), w)

			break
		}

		if done {
			c.leave()
		} else {
			rest = append(rest, w)
		}
	}

	u.mu.Lock()
	defer u.mu.Unlock()

	u.open = append(u.open, rest...)
	u.busy = len(u.open) > 0

	for _, w := range u.open {
		if shortest == 0 || w.p.Lease < shortest {
			shortest = w.p.Lease
		}
	}

	return shortest, u.busy
}

// released reports whether nothing is left of the claim, or can still come. An error: the store could not be asked.
func (w *claiming) released() (done bool, err error) {
	if w.c.clock.moment().reached(w.sent.add(w.p.Lease)) {
		return true, nil
	}

	ctx := withBudget(w.c.background, time.Now().Add(w.c.timeout))
	defer ctx.cancel()

	snap, err := w.c.get(ctx, w.p.ID)

	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return false, err
	case snap.AttemptID == w.next.AttemptID && snap.Status == StatusInProgress:
		w.snap = snap

		err := w.holder().settle(ctx, w.c.clock.moment(), w.c.timeout, w.p.withdrawn)
		if errors.Is(err, ErrLost) {
			err = nil
		}

		return err == nil, err
	default: // not there: it may still come, unless what it was to replace has gone; a process that ends waits no longer for it
		return snap.Version != w.old || w.c.shutting(), nil
	}
}
