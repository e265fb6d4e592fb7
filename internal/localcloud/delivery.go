package localcloud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Delivery is one HTTP request for a run.
type Delivery struct {
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
	entries []*Delivery
}

func newJournal(limit int) *journal { return &journal{limit: limit} }

func (l *journal) begin(d Delivery) *Delivery {
	l.mu.Lock()

	if len(l.entries) >= l.limit {
		// A quarter goes at once, so that a full journal is not copied for each delivery.
		l.entries = slices.Clone(l.entries[l.limit/4+1:])
	}

	l.entries = append(l.entries, &d)
	l.mu.Unlock()
	l.changes.notify()

	return &d
}

// update changes an entry under lock.
func (l *journal) update(d *Delivery, change func(*Delivery)) {
	l.mu.Lock()
	change(d)
	l.mu.Unlock()
	l.changes.notify()
}

func (l *journal) list(job string) []Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()

	out := make([]Delivery, 0, len(l.entries))

	for _, d := range l.entries {
		if matchesJob(job, d.Job) {
			out = append(out, *d)
		}
	}

	return out
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
