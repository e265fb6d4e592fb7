package memclaim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

func TestOpenTakesMemoryURLsAlone(t *testing.T) {
	t.Parallel()

	for _, url := range []string{"memory:", "memory://"} {
		if s, err := memclaim.Open(t.Context(), url); err != nil || s == nil {
			t.Errorf("%s: %v", url, err)
		}
	}

	_, err := memclaim.Open(t.Context(), "postgres://user:secret@host/db")
	if want := `store URL "postgres:": this binary was built with the memory store, which takes "memory:"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHooksLoseRequestsAndReplies(t *testing.T) {
	t.Parallel()

	errLost := errors.New("lost")
	fail := func(context.Context, memclaim.Verb, string) error { return errLost }
	s := memclaim.New()

	s.Before(fail)

	if _, _, err := s.Insert(t.Context(), "x", claim.Record{AttemptID: "a", Rev: 1}); !errors.Is(err, errLost) {
		t.Errorf("insert: %v", err)
	}

	s.Before(nil)

	if _, err := s.Get(t.Context(), "x"); !errors.Is(err, claim.ErrNotFound) {
		t.Errorf("a request that was lost was applied: %v", err)
	}

	s.After(fail)

	if _, _, err := s.Insert(t.Context(), "x", claim.Record{AttemptID: "a", Rev: 1}); !errors.Is(err, errLost) {
		t.Errorf("insert: %v", err)
	}

	s.After(nil)

	if got, err := s.Get(t.Context(), "x"); err != nil || got.AttemptID != "a" {
		t.Errorf("a reply that was lost took the write with it: %+v, %v", got, err)
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	t.Parallel()

	s := memclaim.New()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := s.Get(t.Context(), "x"); !errors.Is(err, memclaim.ErrClosed) {
		t.Errorf("get: %v", err)
	}
}
