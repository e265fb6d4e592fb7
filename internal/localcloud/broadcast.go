package localcloud

import "sync"

// broadcast wakes everyone who waits for a change.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// changed returns a channel that is closed at the next notify. Take it before looking at what may change.
func (b *broadcast) changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.ch == nil {
		b.ch = make(chan struct{})
	}

	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
