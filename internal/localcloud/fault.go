package localcloud

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// FaultKind names what goes wrong.
type FaultKind string

const (
	// LostReply delivers the request and receives the answer, but the scheduler sees a broken connection.
	LostReply FaultKind = "lost_reply"
	// Duplicate delivers the request Count times: at once, or the copies After the first. The attempt succeeds when a delivery
	// that is not late does.
	Duplicate FaultKind = "duplicate"
	// Delay holds the request up for Delay before it reaches the target. The attempt deadline runs meanwhile.
	Delay FaultKind = "delay"
	// SlowToken holds up by Delay the making of the token that the request carries, if it carries one. The attempt deadline runs
	// meanwhile.
	SlowToken FaultKind = "slow_token"
	// Reset sends the request and, After that, breaks the connection.
	Reset FaultKind = "reset"
	// Status answers with Status (zero: 503) from the path; the target never sees the request.
	Status FaultKind = "status"
	// UpdateFailed lets the next update of the job fail with INTERNAL and leaves the job in the state UPDATE_FAILED.
	UpdateFailed FaultKind = "update_failed"
)

// Fault is something that goes wrong on request. Each delivery attempt meets at most one fault: the oldest that applies.
type Fault struct {
	// Job is the full name or the short id of the job that it happens to; empty: any job.
	Job string
	// Kind is what happens.
	Kind FaultKind
	// Times is how often it happens; zero: once; negative: until the faults are cleared.
	Times int
	// Skip is how many attempts go well first.
	Skip int
	// Count is how many deliveries a Duplicate makes of one, in all; less than two: two.
	Count int
	// After is the wait before the copies of a Duplicate, by the cloud's clock, or before a Reset, in real time.
	After time.Duration
	// Delay is how long a Delay or SlowToken holds the request up, by the cloud's clock.
	Delay time.Duration
	// Status is the HTTP status that a Status fault answers; zero: 503.
	Status int
}

// check refuses faults that could not happen as asked.
func (f Fault) check() error {
	kinds := append(deliveryFaults(), UpdateFailed)
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("fault kind %q is unknown: use one of %q", f.Kind, kinds)
	}

	if f.Skip < 0 || f.Count < 0 || f.After < 0 || f.Delay < 0 {
		return fmt.Errorf("fault %s has a negative skip, count, after or delay: use zero or more", f.Kind)
	}

	if f.Count > largestCount {
		return fmt.Errorf("fault %s asks for %d deliveries: at most %d can be made of one", f.Kind, f.Count, largestCount)
	}

	if f.Kind == Status && f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("fault status is %d: use an HTTP status from 200 to 599", f.Status)
	}

	return nil
}

// deliveryFaults are the kinds that a delivery can meet.
func deliveryFaults() []FaultKind {
	return []FaultKind{LostReply, Duplicate, Delay, SlowToken, Reset, Status}
}

// largestCount keeps a mistyped count from exhausting the machine.
const largestCount = 1000

// faults is the list of what is still to go wrong, oldest first.
type faults struct {
	mu   sync.Mutex
	list []*Fault
}

func (f *faults) add(fault Fault) {
	if fault.Times == 0 {
		fault.Times = 1
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	f.list = append(f.list, &fault)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.list = nil
}

// pending is a copy of what is still to happen.
func (f *faults) pending() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()

	out := make([]Fault, 0, len(f.list))
	for _, fault := range f.list {
		out = append(out, *fault)
	}

	return out
}

// take uses up one occurrence of the oldest fault of the kinds that applies to the job.
func (f *faults) take(job string, kinds ...FaultKind) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, fault := range f.list {
		if !slices.Contains(kinds, fault.Kind) || !matchesJob(fault.Job, job) {
			continue
		}

		if fault.Skip > 0 {
			fault.Skip--

			return Fault{}, false
		}

		taken := *fault

		if fault.Times > 0 {
			fault.Times--
		}

		if fault.Times == 0 {
			f.list = slices.Delete(f.list, i, i+1)
		}

		return taken, true
	}

	return Fault{}, false
}
