package localcloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Delivery is one HTTP request for a run.
type Delivery struct {
	// ID numbers the deliveries of a cloud from 1.
	ID int64 `json:"id"`
	// Job is the full name of the job.
	Job string `json:"job"`
	// Run numbers the runs of a cloud from 1; all deliveries of one run share it.
	Run int64 `json:"run"`
	// ScheduleTime is what the delivery says it is for; zero: it says nothing.
	ScheduleTime time.Time `json:"scheduleTime,omitzero"`
	// Forced says that the run was started by RunJob.
	Forced bool `json:"forced,omitempty"`
	// Number is the attempt as the scheduler counts, from 1. Duplicates share it.
	Number int `json:"number"`
	// Copy is 0 for the request itself and 1, 2, … for duplicates of it.
	Copy int `json:"copy,omitempty"`
	// Started and Ended are real times; Ended is zero while the delivery is in flight.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	// Clock is the local cloud's own time at the start.
	Clock time.Time `json:"clock"`
	// Method, URL and Header are what was sent; tokens are left out of Header.
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header,omitempty"`
	// Status is the HTTP status of the target, also when the scheduler never learned it; zero: there was none.
	Status int `json:"status,omitempty"`
	// Outcome is the Idempotent-Run header of the answer.
	Outcome string `json:"outcome,omitempty"`
	// Answer and Body are the header and the first 64 KiB of the body of the answer.
	Answer http.Header `json:"answer,omitempty"`
	Body   []byte      `json:"body,omitempty"`
	// Fault is what was made to go wrong; empty: nothing.
	Fault FaultKind `json:"fault,omitempty"`
	// Error is why the scheduler counts the delivery as failed without an answer; empty: it has one.
	Error string `json:"error,omitempty"`
}

// InFlight says whether the delivery has not ended yet.
func (d Delivery) InFlight() bool { return d.Ended.IsZero() }

// journal remembers deliveries, the latest of them up to a limit.
type journal struct {
	limit   int
	changes broadcast

	mu      sync.Mutex
	entries []*entry
	lastID  int64
	// revision counts changes, so that who has seen some asks for the rest.
	revision int64
}

// entry is a delivery and the revision of its latest change.
type entry struct {
	Delivery

	revision int64
}

func newJournal(limit int) *journal { return &journal{limit: limit} }

func (l *journal) begin(d Delivery) *entry {
	l.mu.Lock()

	if len(l.entries) >= l.limit {
		// A quarter goes at once, so that a full journal is not copied for each delivery.
		l.entries = slices.Clone(l.entries[l.limit/4+1:])
	}

	l.lastID++
	l.revision++
	d.ID = l.lastID
	e := &entry{Delivery: d, revision: l.revision}
	l.entries = append(l.entries, e)
	l.mu.Unlock()
	l.changes.notify()

	return e
}

// update changes an entry under lock.
func (l *journal) update(e *entry, change func(*Delivery)) {
	l.mu.Lock()
	l.revision++
	e.revision = l.revision
	change(&e.Delivery)
	l.mu.Unlock()
	l.changes.notify()
}

func (l *journal) list(job string) []Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()

	out := make([]Delivery, 0, len(l.entries))

	for _, e := range l.entries {
		if matchesJob(job, e.Job) {
			out = append(out, e.Delivery)
		}
	}

	return out
}

// since returns the deliveries that changed after a revision, the latest of them up to a limit, and the revision that they show.
func (l *journal) since(revision int64, limit int) ([]Delivery, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()

	var out []Delivery

	for _, e := range slices.Backward(l.entries) {
		if e.revision > revision {
			out = append(out, e.Delivery)
		}

		if len(out) == limit {
			break
		}
	}

	slices.Reverse(out)

	return out, l.revision
}

// get returns one delivery, if it is still remembered.
func (l *journal) get(id int64) (Delivery, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	i, found := slices.BinarySearchFunc(l.entries, id, func(e *entry, id int64) int { return cmp.Compare(e.ID, id) })
	if !found {
		return Delivery{}, false
	}

	return l.entries[i].Delivery, true
}

// wait returns once the condition holds of all deliveries; it is asked again after each change.
func (l *journal) wait(ctx context.Context, closed <-chan struct{}, condition func([]Delivery) bool) error {
	for {
		changed := l.changes.changed()

		all := l.list("")
		if condition(all) {
			return nil
		}

		select {
		case <-changed:
		case <-closed:
			return fmt.Errorf("the condition does not hold of %d deliveries: %w", len(all), errClosed)
		case <-ctx.Done():
			return fmt.Errorf("the condition does not hold of %d deliveries: %w", len(all), context.Cause(ctx))
		}
	}
}
