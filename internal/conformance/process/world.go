package process

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/spanner"
	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

// world is a store and what its transactions write to. complete writes one effect of that name and completes the run in ctx.
type world struct {
	store    claim.Store
	complete func(ctx context.Context, name, attemptID string) error
}

func openWorld(ctx context.Context, url, effects string) (world, error) {
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, url, effects)
	case "postgres":
		return openPostgres(ctx, url, effects)
	case "redis":
		store, err := redisclaim.Open(ctx, url)
		return world{store: store, complete: func(context.Context, string, string) error {
			return claim.Permanent(errors.New("redis has no transactions"))
		}}, err
	case "firestore":
		return openFirestore(ctx, url, effects)
	case "spanner":
		return openSpanner(ctx, url, effects)
	default:
		return world{}, fmt.Errorf("no process serves a store of scheme %q", scheme)
	}
}

func openSQLite(ctx context.Context, url, effects string) (world, error) {
	store, err := sqliteclaim.Open(ctx, url)
	return world{store: store, complete: func(ctx context.Context, name, attemptID string) error {
		return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO "+effects+" VALUES (?, ?)", name, attemptID)
			return err
		})
	}}, err
}

func openPostgres(ctx context.Context, url, effects string) (world, error) {
	store, err := postgresclaim.Open(ctx, url)
	return world{store: store, complete: func(ctx context.Context, name, attemptID string) error {
		return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1, $2)", name, attemptID)
			return err
		})
	}}, err
}

func openFirestore(ctx context.Context, url, effects string) (world, error) {
	store, err := firestoreclaim.Open(ctx, url)
	return world{store: store, complete: func(ctx context.Context, name, attemptID string) error {
		return firestoreclaim.CompleteTx(ctx, func(_ context.Context, tx *firestore.Transaction) error {
			return tx.Create(store.Client().Collection(effects).NewDoc(), map[string]string{"run": name, "attempt_id": attemptID})
		})
	}}, err
}

func openSpanner(ctx context.Context, url, effects string) (world, error) {
	store, err := spannerclaim.Open(ctx, url)
	return world{store: store, complete: func(ctx context.Context, name, attemptID string) error {
		return spannerclaim.CompleteTx(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
			statement := spanner.NewStatement("INSERT INTO " + effects + " (run, attempt_id) VALUES (@run, @attempt)")
			statement.Params = map[string]any{"run": name, "attempt": attemptID}
			_, err := tx.Update(ctx, statement)
			return err
		})
	}}, err
}
