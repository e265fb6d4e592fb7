package memclaim

import (
	"context"
	"fmt"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// CompleteTx runs body and completes the claim of ctx in one step: no other call to the store comes between, and the claim is
// completed only if it is still held and body returns nil. Body must not call the store, and what it does before it returns an
// error is not undone.
func CompleteTx(ctx context.Context, body func(context.Context) error) error {
	a, ok := claim.FromContext(ctx)
	if !ok {
		return fmt.Errorf("memclaim.CompleteTx: %w", claim.ErrNoAttempt)
	}

	s, err := driver.Attempt[*Store](a, "memclaim")
	if err != nil {
		return err //nolint:wrapcheck // names package and function already
	}

	return a.Transact(ctx, func(ctx context.Context, t claim.Transition) error { //nolint:wrapcheck // says it all
		if err := s.begin(ctx, Transact, t.ID); err != nil {
			return err
		}

		after, err := s.transact(ctx, t, body)
		if err == nil && after != nil {
			err = after(ctx, Transact, t.ID)
		}

		if err != nil {
			return fmt.Errorf("%s %s: %w", Transact, t.ID, err)
		}

		return nil
	})
}

// transact runs body between the comparison and the write, under the lock, which it gives back, and returns the hook that comes after.
func (s *Store) transact(ctx context.Context, t claim.Transition, body func(context.Context) error) (after Hook, err error) {
	defer s.mu.Unlock() // also when body panics

	e := s.records[t.ID]
	if !e.is(t.Old) {
		return nil, claim.ErrLost
	}

	if err := body(ctx); err != nil {
		return nil, claim.RolledBack(err)
	}

	s.put(t.ID, e, t.Completed(), s.time())

	return s.after, nil
}
