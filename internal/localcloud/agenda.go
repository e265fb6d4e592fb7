package localcloud

import (
	"container/heap"
	"sync"
	"time"
)

// agenda holds what is to happen later, in order of time and, at one time, in order of entry.
type agenda struct {
	mu     sync.Mutex
	events eventHeap
	seq    uint64
	// wake is signalled when the earliest event may have changed.
	wake chan struct{}
}

type event struct {
	at    time.Time
	seq   uint64
	index int // place in the heap; -1: no longer in it
	do    func()
}

func newAgenda() *agenda { return &agenda{wake: make(chan struct{}, 1)} }

func (a *agenda) add(at time.Time, do func()) *event {
	a.mu.Lock()
	a.seq++
	e := &event{at: at, seq: a.seq, do: do}
	heap.Push(&a.events, e)
	a.mu.Unlock()
	a.poke()

	return e
}

// poke says that the earliest event or the clock may have changed.
func (a *agenda) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// remove takes an event off if it is still to happen; nil is ignored.
func (a *agenda) remove(e *event) {
	if e == nil {
		return
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	if e.index >= 0 {
		heap.Remove(&a.events, e.index)
	}
}

func (a *agenda) earliest() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if len(a.events) == 0 {
		return time.Time{}, false
	}

	return a.events[0].at, true
}

// due takes off and returns the earliest event that is not later than now, or nil.
func (a *agenda) due(now time.Time) *event {
	a.mu.Lock()
	defer a.mu.Unlock()

	if len(a.events) == 0 || a.events[0].at.After(now) {
		return nil
	}

	e, _ := heap.Pop(&a.events).(*event)

	return e
}

type eventHeap []*event

func (h eventHeap) Len() int { return len(h) }

func (h eventHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].seq < h[j].seq
	}

	return h[i].at.Before(h[j].at)
}

func (h eventHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *eventHeap) Push(x any) {
	e, _ := x.(*event)
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	last.index = -1
	*h = old[:len(old)-1]

	return last
}
