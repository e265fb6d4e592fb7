package conformance

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func (s *suite) verbs() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"insert writes where nothing is":          s.insertWrites,
		"insert returns what is there":            s.insertReturnsWhatIsThere,
		"swap writes over the version it names":   s.swapWrites,
		"swap returns what is there instead":      s.swapReturnsWhatIsThere,
		"swap of nothing says that nothing is":    s.swapOfNothing,
		"swap compares the version, not the rest": s.swapComparesTheVersion,
		"get of nothing":                          s.getOfNothing,
		"records keep apart":                      s.recordsKeepApart,
		"a version never repeats":                 s.versionsNeverRepeat,
		"a version survives its reading":          s.versionsAreStable,
		"a version dies with its record":          s.versionsDie,
		"a context that has ended is an error":    s.endedContext,
		"a result too large is refused":           s.resultTooLarge,
	}
}

// wantSnapshot compares a snapshot with the record that should be in it, and its version and times with what must hold always.
func wantSnapshot(t testingT, what string, got claim.Snapshot, want claim.Record) {
	t.Helper()

	if diff := cmp.Diff(kept(want), kept(got.Record)); diff != "" {
		t.Errorf("%s: record (-want +got):\n%s", what, diff)
	}

	if got.Version == "" {
		t.Errorf("%s: the version is empty, which says that nothing is there", what)
	}

	if got.Written.IsZero() || got.Now.Before(got.Written) {
		t.Errorf("%s: written %v, now %v: a record cannot be written later than it is read", what, got.Written, got.Now)
	}
}

func (s *suite) insertWrites(t *testing.T) {
	id, r := newID(), newAttempt()
	wantSnapshot(t, "insert", s.inserted(t, id, r), r)

	for client := range s.clients {
		wantSnapshot(t, "get", s.get(t, client, id), r)
	}
}

func (s *suite) insertReturnsWhatIsThere(t *testing.T) {
	id, first := newID(), newAttempt()
	mine := s.inserted(t, id, first)

	for client := range s.clients {
		there, ok := s.insert(t, client, id, newAttempt())
		if ok {
			t.Fatal("a second insert: true")
		}

		wantSnapshot(t, "a second insert", there, first)

		if there.Version != mine.Version || !there.Written.Equal(mine.Written) {
			t.Errorf("version %q written %v, want %q written %v", there.Version, there.Written, mine.Version, mine.Written)
		}
	}
}

func (s *suite) swapWrites(t *testing.T) {
	id, r := newID(), newAttempt()
	before := s.inserted(t, id, r)
	r = next(r, claim.StatusCompleted)

	after, ok := s.swap(t, 1, id, before.Version, r)
	if !ok {
		t.Fatalf("swap of the version that is there: false, found %+v", after)
	}

	wantSnapshot(t, "swap", after, r)

	got := s.get(t, 0, id)
	wantSnapshot(t, "get", got, r)

	if got.Version != after.Version || after.Version == before.Version {
		t.Errorf("versions: inserted %q, swapped %q, read %q", before.Version, after.Version, got.Version)
	}

	if after.Written.Before(before.Written) {
		t.Errorf("written %v after %v", after.Written, before.Written)
	}
}

func (s *suite) swapReturnsWhatIsThere(t *testing.T) {
	id, r := newID(), newAttempt()
	first := s.inserted(t, id, r)
	r = next(r, claim.StatusReleased)

	if _, ok := s.swap(t, 0, id, first.Version, r); !ok {
		t.Fatal("swap: false")
	}

	there, ok := s.swap(t, 1, id, first.Version, next(r, claim.StatusCompleted))
	if ok {
		t.Fatal("swap of a version that is gone: true")
	}

	wantSnapshot(t, "a refused swap", there, r)
	wantSnapshot(t, "get", s.get(t, 0, id), r)
}

func (s *suite) swapOfNothing(t *testing.T) {
	other := s.inserted(t, newID(), newAttempt())

	id := newID()

	there, ok := s.swap(t, 0, id, other.Version, newAttempt())
	if ok || there.Version != "" {
		t.Errorf("swap where nothing is: %v, %+v", ok, there)
	}

	if there.Now.IsZero() {
		t.Error("the store's time is missing from the answer")
	}

	if got := s.get(t, 0, id); got.Version != "" {
		t.Errorf("a refused swap wrote %+v", got)
	}
}

func (s *suite) swapComparesTheVersion(t *testing.T) {
	id, r := newID(), newAttempt()
	first := s.inserted(t, id, r)

	// The same attempt, an older revision: the attempt id alone must not do.
	r = next(r, claim.StatusInProgress)

	second, ok := s.swap(t, 0, id, first.Version, r)
	if !ok {
		t.Fatal("renew: false")
	}

	if there, ok := s.swap(t, 0, id, first.Version, next(r, claim.StatusCompleted)); ok || there.Version != second.Version {
		t.Errorf("swap of an older version of the same attempt: %v, %+v", ok, there)
	}
}

func (s *suite) getOfNothing(t *testing.T) {
	snap, err := s.clients[0].Get(t.Context(), newID())
	if !errors.Is(err, claim.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}

	if snap.Version != "" || snap.Now.IsZero() {
		t.Errorf("snapshot %+v, want no version and the store's time", snap)
	}
}

func (s *suite) recordsKeepApart(t *testing.T) {
	one, two := newID(), newID()
	a, b := newAttempt(), newAttempt()
	first := s.inserted(t, one, a)
	s.inserted(t, two, b)

	if _, ok := s.swap(t, 0, one, first.Version, next(a, claim.StatusFailed)); !ok {
		t.Fatal("swap: false")
	}

	wantSnapshot(t, "the other record", s.get(t, 0, two), b)
}

func (s *suite) versionsNeverRepeat(t *testing.T) {
	id, seen := newID(), map[claim.Version]bool{}

	for round := range 3 {
		r := newAttempt()
		snap := s.inserted(t, id, r)

		for range 10 {
			if seen[snap.Version] {
				t.Fatalf("version %q repeats", snap.Version)
			}

			seen[snap.Version] = true
			r = next(r, claim.StatusInProgress)

			var ok bool
			if snap, ok = s.swap(t, round%processes, id, snap.Version, r); !ok {
				t.Fatal("swap: false")
			}
		}

		if s.del == nil {
			return
		}

		if err := s.del(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *suite) versionsAreStable(t *testing.T) {
	id := newID()
	snap := s.inserted(t, id, newAttempt())

	for client := range s.clients {
		if got := s.get(t, client, id); got.Version != snap.Version || !got.Written.Equal(snap.Written) {
			t.Errorf("read as %q written %v, inserted as %q written %v", got.Version, got.Written, snap.Version, snap.Written)
		}
	}
}

func (s *suite) versionsDie(t *testing.T) {
	if s.del == nil {
		t.Log("not deletable from here: nothing more to hold it to")

		return
	}

	id, r := newID(), newAttempt()
	snap := s.inserted(t, id, r)

	if err := s.del(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	if there, ok := s.swap(t, 0, id, snap.Version, next(r, claim.StatusCompleted)); ok || there.Version != "" {
		t.Errorf("swap of a deleted record: %v, %+v", ok, there)
	}

	other := newAttempt()
	s.inserted(t, id, other)

	if _, ok := s.swap(t, 0, id, snap.Version, next(r, claim.StatusCompleted)); ok {
		t.Error("the version of a deleted record fits its successor")
	}
}

func (s *suite) endedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	id := newID()

	if _, ok, err := s.clients[0].Insert(ctx, id, newAttempt()); err == nil || ok {
		t.Errorf("insert: %v, %v", ok, err)
	}

	there := s.inserted(t, newID(), newAttempt())
	if _, ok, err := s.clients[0].Swap(ctx, id, there.Version, newAttempt()); err == nil || ok {
		t.Errorf("swap: %v, %v", ok, err)
	}

	if _, err := s.clients[0].Get(ctx, id); err == nil || errors.Is(err, claim.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

func (s *suite) resultTooLarge(t *testing.T) {
	id, r := newID(), newAttempt()
	r.Result = make([]byte, s.caps.MaxResult+1)

	if _, ok, err := s.clients[0].Insert(t.Context(), id, r); !errors.Is(err, claim.ErrTooLarge) || ok {
		t.Errorf("insert: %v, %v; want ErrTooLarge", ok, err)
	}

	r.Result = nil
	snap := s.inserted(t, id, r)
	r = next(r, claim.StatusCompleted)
	r.Result = make([]byte, s.caps.MaxResult+1)

	if _, ok, err := s.clients[0].Swap(t.Context(), id, snap.Version, r); !errors.Is(err, claim.ErrTooLarge) || ok {
		t.Errorf("swap: %v, %v; want ErrTooLarge", ok, err)
	}
}
