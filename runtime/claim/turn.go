package claim

import "sync"

// turn is held by one at a time. Waiting for it can be given up, which a mutex does not allow, and it costs nothing while nobody
// waits, which a channel does.
type turn struct {
	mu    sync.Mutex
	taken bool
	freed chan struct{} // closed when it is given back; nil: nobody waits
}

// try takes the turn if nobody has it.
func (t *turn) try() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.taken {
		return false
	}

	t.taken = true

	return true
}

// take waits for the turn; false if one of the channels is closed first.
func (t *turn) take(one, other <-chan struct{}) bool {
	for !t.try() {
		select {
		case <-t.next():
		case <-one:
			return false
		case <-other:
			return false
		}
	}

	return true
}

// next is closed once the turn may be free.
func (t *turn) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.freed == nil {
		t.freed = make(chan struct{})
	}

	if !t.taken {
		defer t.wake()
	}

	return t.freed
}

// give gives the turn back.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.taken = false
	t.wake()
}

// wake lets those who wait try again. The caller holds mu.
func (t *turn) wake() {
	if t.freed != nil {
		close(t.freed)
		t.freed = nil
	}
}
