package sqliteclaim

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// CompleteTx writes the effect of a run and its completion in one transaction: either both happen or neither. It begins the
// transaction, calls effect and commits; effect must neither commit nor roll back, and may be called again when the database gave
// the transaction up. ctx is the context of the work, or derived from it.
//
// It holds SQLite's only write lock from its first statement on, so begin it after the long part of the work. An error or panic of
// effect rolls everything back and is returned. When this attempt has completed the run already, it returns nil without calling
// effect; when the run is not this attempt's any more, the error matches claim.ErrLost and nothing was written.
func CompleteTx(ctx context.Context, effect func(*sql.Tx) error) error {
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return fmt.Errorf("sqliteclaim.CompleteTx: %w", claim.ErrNoAttempt)
	}

	s, err := driver.Attempt[*Store](attempt, "sqliteclaim")
	if err != nil {
		return err
	}

	return attempt.Transact(ctx, func(ctx context.Context, t claim.Transition) error {
		return s.commit(ctx, t, effect)
	})
}

// commit moves the claim first: in SQLite that takes the write lock, and spares the effect of an attempt that has lost.
func (s *Store) commit(ctx context.Context, t claim.Transition, effect func(*sql.Tx) error) error {
	if err := s.lock(ctx); err != nil {
		return claim.RolledBack(err)
	}
	defer s.unlock()

	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return claim.RolledBack(fmt.Errorf("begin: %w", classify(err)))
	}

	defer func() { _ = tx.Rollback() }() // after a commit it does nothing

	_, moved, err := s.swap(ctx, tx, t.ID, t.Old, driver.Normal(t.New))
	if err != nil {
		return claim.RolledBack(fmt.Errorf("complete the claim: %w", err))
	}

	if !moved {
		return fmt.Errorf("complete the claim: %w", claim.ErrLost)
	}

	if err := effect(tx); err != nil {
		return claim.RolledBack(classify(err))
	}

	if done := t.Completed(); !bytes.Equal(done.Result, t.New.Result) { // left by the effect
		if _, _, err := s.swap(ctx, tx, t.ID, t.New.Version(), driver.Normal(done)); err != nil {
			return claim.RolledBack(fmt.Errorf("store the result: %w", err))
		}
	}

	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", classify(err))
	}

	return nil
}
