package conformance

import (
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func (s *suite) clock() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"now never goes back between clients": s.nowIsMonotonic,
		"a record ages as time passes":        s.recordsAge,
		"a swap makes a record young again":   s.swapRenews,
		"written is the store's time":         s.writtenIsTheStores,
	}
}

// grain is how much two readings of one clock may seem to go back, by rounding.
const grain = 2 * time.Millisecond

func (s *suite) nowIsMonotonic(t *testing.T) {
	id := newID()
	last := s.inserted(t, id, newAttempt()).Now

	for i := range 5 * processes {
		snap := s.get(t, i%processes, id)
		if snap.Now.Add(grain).Before(last) {
			t.Fatalf("client %d reads %v after %v was read", i%processes, snap.Now, last)
		}

		last = snap.Now
	}

	if missing := s.get(t, 0, newID()); missing.Now.Add(grain).Before(last) || missing.Now.Sub(last) > time.Minute {
		t.Errorf("where nothing is the time is %v, after %v", missing.Now, last)
	}
}

func (s *suite) recordsAge(t *testing.T) {
	const passed = 100 * time.Millisecond

	id := newID()
	young := s.inserted(t, id, newAttempt())
	begin := time.Now()

	<-time.After(passed)

	old := s.get(t, 1, id)
	most := time.Since(begin) + time.Second

	if !old.Written.Equal(young.Written) {
		t.Errorf("written %v became %v", young.Written, old.Written)
	}

	if age := old.Now.Sub(old.Written); age < passed-grain || age > most {
		t.Errorf("the record is %v old, want between %v and %v", age, passed, most)
	}

	there, _ := s.insert(t, 2, id, newAttempt())
	if age := there.Now.Sub(there.Written); age < passed-grain {
		t.Errorf("a refused insert says that the record is %v old, want %v at least", age, passed)
	}
}

func (s *suite) swapRenews(t *testing.T) {
	const passed = 50 * time.Millisecond

	id, r := newID(), newAttempt()
	first := s.inserted(t, id, r)

	<-time.After(passed)

	second, ok := s.swap(t, 1, id, first.Version, next(r, claim.StatusInProgress))
	if !ok {
		t.Fatal("swap: false")
	}

	if second.Written.Sub(first.Written) < passed-grain {
		t.Errorf("written %v, then %v after %v had passed", first.Written, second.Written, passed)
	}
}

func (s *suite) writtenIsTheStores(t *testing.T) {
	before := s.get(t, 0, newID()).Now

	// Whatever the writer thinks of the time.
	r := newAttempt()
	r.ClaimedAt = r.ClaimedAt.AddDate(-10, 0, 0)
	r.LeaseExpires = r.LeaseExpires.AddDate(10, 0, 0)

	snap := s.inserted(t, newID(), r)
	after := s.get(t, 1, newID()).Now

	if snap.Written.Add(grain).Before(before) || snap.Written.After(after.Add(grain)) {
		t.Errorf("written %v, by a store whose clock read %v before and %v after", snap.Written, before, after)
	}
}
