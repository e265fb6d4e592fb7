package conformance

import (
	"context"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func (s *suite) list() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"by status":                            s.listByStatus,
		"until the caller has seen enough":     s.listUntilEnough,
		"a context that has ended is an error": s.listEnded,
	}
}

func (s *suite) listByStatus(t *testing.T) {
	statuses := []claim.Status{
		claim.StatusInProgress, claim.StatusCompleted, claim.StatusReleased, claim.StatusFailed, claim.StatusUnknown, "paused",
	}
	want := map[string]claim.Record{}

	for range 3 {
		for _, status := range statuses {
			id, r := newID(), next(newAttempt(), status)
			want[id] = r
			s.inserted(t, id, r)
		}
	}

	for _, filter := range [][]claim.Status{nil, {claim.StatusInProgress}, {claim.StatusFailed, claim.StatusUnknown}, {"paused"}} {
		f := claim.Filter{Statuses: filter}
		seen := map[string]bool{}

		for snap, err := range s.clients[1].List(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}

			if !f.Match(snap.Status) {
				t.Errorf("filter %v lists a record that is %s", filter, snap.Status)
			}

			r, mine := want[snap.ID]
			if !mine { // of another test
				continue
			}

			if seen[snap.ID] {
				t.Errorf("filter %v lists %s twice", filter, snap.ID)
			}

			seen[snap.ID] = true

			wantSnapshot(t, "listed", snap, r)

			if got := s.get(t, 0, snap.ID); got.Version != snap.Version {
				t.Errorf("listed as version %q, read as %q", snap.Version, got.Version)
			}
		}

		for id, r := range want {
			if f.Match(r.Status) && !seen[id] {
				t.Errorf("filter %v leaves out a record that is %s", filter, r.Status)
			}
		}
	}
}

func (s *suite) listUntilEnough(t *testing.T) {
	for range 3 {
		s.inserted(t, newID(), newAttempt())
	}

	n := 0

	for _, err := range s.clients[0].List(t.Context(), claim.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}

		if n++; n == 2 {
			break
		}
	}

	if n != 2 {
		t.Errorf("%d records listed, want 2", n)
	}
}

func (s *suite) listEnded(t *testing.T) {
	s.inserted(t, newID(), newAttempt())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	n := 0

	for _, err := range s.clients[0].List(ctx, claim.Filter{}) {
		if err != nil {
			n++
		}
	}

	if n != 1 {
		t.Errorf("%d errors, want one, and then the end", n)
	}
}
