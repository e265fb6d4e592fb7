package conformance

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// key names one state of a record.
type key struct {
	attempt string
	rev     int64
}

func (k key) String() string { return fmt.Sprintf("%.6s/%d", k.attempt, k.rev) }

// operation is one call to the store, as its client knew it when it made it.
type operation struct {
	verb string // insert, swap, get
	old  key    // swap: what is to be replaced
	// The last that the client had read of old: what it decided by.
	readWritten, readNow time.Time
	next                 key
	status               claim.Status
	lease                time.Duration
}

func (o operation) String() string {
	switch o.verb {
	case "insert":
		return fmt.Sprintf("insert %s %s", o.next, o.status)
	case "swap":
		return fmt.Sprintf("swap %s, read at the age of %v, for %s %s", o.old, o.readNow.Sub(o.readWritten), o.next, o.status)
	default:
		return o.verb
	}
}

// answer is what the call returned.
type answer struct {
	unknown      bool // an error: applied or not, now or later
	ok           bool
	there        bool // found is set
	found        key
	status       claim.Status
	written, now time.Time
}

func (a answer) String() string {
	switch {
	case a.unknown:
		return "unknown"
	case !a.there:
		return "nothing there"
	default:
		return fmt.Sprintf("%v, found %s %s written %s, now %s", a.ok, a.found, a.status, a.written.Format(clockFormat),
			a.now.Format(clockFormat))
	}
}

const clockFormat = "15:04:05.000000"

// recordState is the state of the record of one run.
type recordState struct {
	there   bool
	is      key
	status  claim.Status
	lease   time.Duration
	written time.Time // zero: nobody has read it yet
	latest  time.Time // of the store's times so far
}

// clockGrain is how far the store's times may go back: an answer is timed somewhere within its call.
const clockGrain = 2 * time.Second

// linearModel says which answers a store may give, and which writes the protocol may make: a takeover only of a record that is
// released, or whose lease is over by the store's times that its claimant had read; a renewal and an end only by the attempt that is
// in progress; a version only once.
var linearModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{recordState{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(recordState), input.(operation), output.(answer) //nolint:forcetypeassert // ours

		states := s.step(in, out)
		next := make([]any, len(states))

		for i := range states {
			next[i] = states[i]
		}

		return next
	},
}).ToModel()

func (s recordState) step(in operation, out answer) []recordState {
	if out.unknown {
		if in.verb != "get" && s.fits(in) && s.allows(in) {
			return []recordState{s, s.after(in, time.Time{})}
		}

		return []recordState{s}
	}

	if !s.ticks(out) {
		return nil
	}

	switch {
	case out.ok && s.fits(in) && s.allows(in):
		return []recordState{s.after(in, out.written).read(out)}
	case out.ok:
		return nil
	case !out.there:
		if s.there || in.verb == "insert" {
			return nil
		}

		return []recordState{s.read(out)}
	}

	var next []recordState

	if in.verb != "get" && out.found == in.next && s.fits(in) && s.allows(in) { // refused because it was applied: resent on the way
		next = append(next, s.after(in, out.written).read(out))
	}

	if s.shows(out) && (in.verb != "swap" || s.is != in.old) { // a swap is not refused on the version that it names
		next = append(next, s.read(out))
	}

	return next
}

// fits reports whether the store may apply the write.
func (s recordState) fits(in operation) bool {
	if in.verb == "insert" {
		return !s.there
	}

	return s.there && s.is == in.old
}

// allows reports whether the protocol lets the client make the write on this state.
func (s recordState) allows(in operation) bool {
	switch {
	case in.verb == "insert":
		return in.status == claim.StatusInProgress
	case in.next.attempt == s.is.attempt:
		return s.status == claim.StatusInProgress
	case s.status == claim.StatusReleased:
		return in.status == claim.StatusInProgress
	case s.status == claim.StatusInProgress:
		known := s.written.IsZero() || s.written.Equal(in.readWritten)

		return in.status == claim.StatusInProgress && known && in.readNow.Sub(in.readWritten) >= s.lease
	default:
		return false
	}
}

func (s recordState) after(in operation, written time.Time) recordState {
	s.there, s.is, s.status, s.lease, s.written = true, in.next, in.status, in.lease, written

	return s
}

// shows reports whether a reader of this state may be given the answer.
func (s recordState) shows(out answer) bool {
	return s.there && s.is == out.found && s.status == out.status && (s.written.IsZero() || s.written.Equal(out.written))
}

// ticks reports whether the store's times in the answer go on from those before.
func (s recordState) ticks(out answer) bool {
	return !out.now.Before(out.written) && !out.now.Add(clockGrain).Before(s.latest)
}

// read takes in the times of an answer.
func (s recordState) read(out answer) recordState {
	if out.there {
		s.written = out.written
	}

	if out.now.After(s.latest) {
		s.latest = out.now
	}

	return s
}
