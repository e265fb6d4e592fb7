package postgresclaim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// rollbackTimeout bounds the roll-back of a transaction whose context is over.
const rollbackTimeout = 2 * time.Second

// CompleteTx writes the effect of a run and its completion in one transaction: either both happen or neither. It begins the
// transaction, calls effect and commits; effect must neither commit nor roll back, and may be called again when the server gave the
// transaction up. ctx is the context of the work, or derived from it.
//
// An error or panic of effect rolls everything back and is returned. When this attempt has completed the run already, it returns
// nil without calling effect; when the run is not this attempt's any more, the error matches claim.ErrLost and nothing was written.
// Begin it after the long part of the work: other deliveries wait for the locks it holds.
func CompleteTx(ctx context.Context, effect func(pgx.Tx) error) error {
	return complete(ctx, "CompleteTx", func(ctx context.Context, s *Store, t claim.Transition) error {
		return s.commit(ctx, t, effect)
	})
}

// CompleteSQLTx is CompleteTx for code that is written against database/sql. The transaction is one of the store's own pool.
func CompleteSQLTx(ctx context.Context, effect func(*sql.Tx) error) error {
	return complete(ctx, "CompleteSQLTx", func(ctx context.Context, s *Store, t claim.Transition) error {
		return s.commitSQL(ctx, t, effect)
	})
}

func complete(ctx context.Context, name string, commit func(context.Context, *Store, claim.Transition) error) error {
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return fmt.Errorf("postgresclaim.%s: %w", name, claim.ErrNoAttempt)
	}

	s, err := driver.Attempt[*Store](attempt, "postgresclaim")
	if err != nil {
		return err
	}

	return attempt.Transact(ctx, func(ctx context.Context, t claim.Transition) error { return commit(ctx, s, t) })
}

func (s *Store) commit(ctx context.Context, t claim.Transition, effect func(pgx.Tx) error) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return claim.RolledBack(fmt.Errorf("begin: %w", classify(err)))
	}

	defer func() { // after a commit it does nothing
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()

		_ = tx.Rollback(ctx)
	}()

	return finish(t, func() error { return effect(tx) },
		func(args []any) error {
			var at time.Time

			return tx.QueryRow(ctx, s.sql.swap, args...).Scan(&at)
		},
		func() error { return tx.Commit(ctx) })
}

func (s *Store) commitSQL(ctx context.Context, t claim.Transition, effect func(*sql.Tx) error) error {
	db := stdlib.OpenDBFromPool(s.pool) // keeps no connections of its own
	defer func() { _ = db.Close() }()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return claim.RolledBack(fmt.Errorf("begin: %w", classify(err)))
	}

	defer func() { _ = tx.Rollback() }() // after a commit it does nothing

	return finish(t, func() error { return effect(tx) },
		func(args []any) error {
			var at time.Time

			return tx.QueryRowContext(ctx, s.sql.swap, args...).Scan(&at)
		},
		tx.Commit)
}

// finish runs the effect, moves the claim as the transaction's last statement, so that its lock is held for one round trip, and
// commits.
func finish(t claim.Transition, effect func() error, swap func(args []any) error, commit func() error) error {
	if _, _, ok := driver.SplitVersion(t.Old); !ok {
		return fmt.Errorf("complete the claim: %w", claim.ErrLost)
	}

	if err := effect(); err != nil {
		return claim.RolledBack(classify(err))
	}

	args, _ := bindSwap(t.ID, t.Old, driver.Normal(t.Completed()))

	if err := swap(args); errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("complete the claim: %w", claim.ErrLost)
	} else if err != nil {
		return claim.RolledBack(fmt.Errorf("complete the claim: %w", classify(err)))
	}

	if err := commit(); err != nil {
		err = fmt.Errorf("commit: %w", classify(err))
		if refused(err) {
			err = claim.RolledBack(err)
		}

		return err
	}

	return nil
}

// refused reports whether the server itself says that it did not commit. A lost connection says nothing, and neither does a server
// that shuts down.
func refused(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}

	e, ok := errors.AsType[*pgconn.PgError](err)

	return ok && e.SeverityUnlocalized == "ERROR"
}
