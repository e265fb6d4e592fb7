package conformance_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

func openSQLite(t *testing.T, url string) *sqliteclaim.Store {
	t.Helper()

	s, err := sqliteclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	return s
}

func TestSQLiteCompletesInTheTransactionOfTheEffect(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "claims.db")
	s := openSQLite(t, "sqlite://"+filepath.ToSlash(path))

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = db.Close() })

	if _, err := db.ExecContext(t.Context(), "CREATE TABLE effects (name TEXT)"); err != nil {
		t.Fatal(err)
	}

	testCompleteTx(t, transactional{
		store: s,
		completeTx: func(ctx context.Context, name string, after func() error) error {
			return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, "INSERT INTO effects VALUES (?)", name); err != nil {
					return err
				}

				return after()
			})
		},
		rows: sqlRows(db, "SELECT count(*) FROM effects WHERE name = ?"),
	})
}

// TestSQLiteCompletesOverADatabaseOfTheCallers uses one that begins its transactions as readers, as database/sql does by default.
func TestSQLiteCompletesOverADatabaseOfTheCallers(t *testing.T) {
	t.Parallel()

	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_busy_timeout=5000&_journal_mode=WAL", filepath.Join(t.TempDir(), "app.db")))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = db.Close() })

	s, err := sqliteclaim.New(db, "")
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, err := db.ExecContext(t.Context(), "CREATE TABLE effects (name TEXT)"); err != nil {
		t.Fatal(err)
	}

	testCompleteTx(t, transactional{
		store: s,
		completeTx: func(ctx context.Context, name string, after func() error) error {
			return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, "INSERT INTO effects VALUES (?)", name); err != nil {
					return err
				}

				return after()
			})
		},
		rows: sqlRows(db, "SELECT count(*) FROM effects WHERE name = ?"),
	})
}

// sqlRows counts by a query that takes the name.
func sqlRows(db *sql.DB, query string) func(t *testing.T, name string) int {
	return func(t *testing.T, name string) int {
		t.Helper()

		var n int
		if err := db.QueryRowContext(t.Context(), query, name).Scan(&n); err != nil {
			t.Fatal(err)
		}

		return n
	}
}
