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
		return s.hooked(ctx, Transact, t.ID, func() error {
			if s.version(t.ID) != t.Old {
				return claim.ErrLost
			}

			if err := body(ctx); err != nil {
				return claim.RolledBack(err)
			}

			s.put(t.ID, t.Completed(), s.time())

			return nil
		})
	})
}
