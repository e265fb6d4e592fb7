package spannerclaim

import (
	"context"
	"errors"
	"fmt"

	"cloud.google.com/go/spanner"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// CompleteTx writes the effect of a run and its completion in one read-write transaction: either both happen or neither. It begins
// the transaction, calls effect and commits; effect may be called again when Spanner aborted the transaction. ctx is the context of
// the work, or derived from it. The effect must be in the claim's database.
//
// An error or panic of effect rolls everything back and is returned. When this attempt has completed the run already, it returns
// nil without calling effect; when the run is not this attempt's any more, the error matches claim.ErrLost and nothing was written.
// Begin it after the long part of the work: other deliveries wait for the locks it holds.
func CompleteTx(ctx context.Context, effect func(context.Context, *spanner.ReadWriteTransaction) error) error {
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return fmt.Errorf("spannerclaim.CompleteTx: %w", claim.ErrNoAttempt)
	}

	s, err := driver.Attempt[*Store](attempt, "spannerclaim")
	if err != nil {
		return err
	}

	return attempt.Transact(ctx, func(ctx context.Context, t claim.Transition) error {
		return s.commit(ctx, t, effect)
	})
}

// commit moves the claim as the transaction's last statement.
func (s *Store) commit(ctx context.Context, t claim.Transition, effect func(context.Context, *spanner.ReadWriteTransaction) error) error {
	sent := false // whether the last round came as far as its commit

	_, err := s.client.ReadWriteTransactionWithOptions(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		sent = false

		if err := effect(ctx, tx); err != nil {
			return err
		}

		if err := s.swap(ctx, tx, t.ID, t.Old, driver.Normal(t.Completed())); err != nil {
			return err
		}

		sent = true

		return nil
	}, spanner.TransactionOptions{BeginTransactionOption: spanner.InlinedBeginTransaction})

	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMoved):
		return fmt.Errorf("complete the claim: %w", claim.ErrLost)
	case !sent:
		return claim.RolledBack(classify(err))
	default:
		return fmt.Errorf("commit: %w", classify(err))
	}
}
