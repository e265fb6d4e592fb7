package process

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

// Subject is a store that processes share, with a table for the effects of their works.
type Subject struct {
	// URL opens the store, Env is what a process needs to reach it.
	URL string
	Env []string
	// Effects is the table or collection of effects. Empty: the store has no transactions.
	Effects string
	// Store is the store, for looking at records.
	Store claim.Store
	// Counts returns how many effects there are of each run, by its name. Nil: the store has no transactions.
	Counts func(context.Context) (map[string]int, error)
}

// Subjects are the stores that processes are tested over, by name.
func Subjects() map[string]func(testing.TB) *Subject {
	return map[string]func(testing.TB) *Subject{
		"sqlite": SQLite, "postgres": Postgres, "redis": Redis, "firestore": Firestore, "spanner": Spanner,
	}
}

// SQLite is a database file of the test's own.
func SQLite(t testing.TB) *Subject {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db"))
	s := &Subject{URL: "sqlite://" + path, Effects: name("effects")}
	store, err := sqliteclaim.Open(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=20000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	return s.over(t, store, db)
}

// Postgres is two tables of the test's own in the PostgreSQL server of this test process.
func Postgres(t testing.TB) *Subject {
	t.Helper()
	server := engines.Postgres(t)
	s := &Subject{URL: server + "&table=" + name("claims"), Effects: name("effects")}
	if err := postgresclaim.Init(t.Context(), s.URL); err != nil {
		t.Fatal(err)
	}
	store, err := postgresclaim.Open(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	return s.over(t, store, stdlib.OpenDB(*config))
}

// Redis is a table of the test's own in the server of this test process. It has no transactions.
func Redis(t testing.TB) *Subject {
	t.Helper()
	s := &Subject{URL: engines.Redis(t) + "?table=" + name("claims")}
	store, err := redisclaim.Open(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Store = store
	return s
}

// over completes a subject whose effects are rows of db.
func (s *Subject) over(t testing.TB, store claim.Store, db *sql.DB) *Subject {
	t.Helper()
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+s.Effects+" (run text NOT NULL, attempt_id text NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	s.Store = store
	s.Counts = func(ctx context.Context) (map[string]int, error) {
		rows, err := db.QueryContext(ctx, "SELECT run, count(*) FROM "+s.Effects+" GROUP BY run")
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		counts := map[string]int{}
		for rows.Next() {
			var (
				run string
				n   int
			)
			if err := rows.Scan(&run, &n); err != nil {
				return nil, err
			}
			counts[run] = n
		}
		return counts, rows.Err()
	}
	return s
}

// name is a table or collection that no other test uses.
func name(what string) string { return what + "_" + strings.ToLower(rand.Text()[:12]) }
