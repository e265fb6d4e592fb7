package inbox_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/sqliteinbox"
)

// subject is an inbox under test.
type subject struct {
	// open opens one more client of the inbox, as another process would, and closes it with the test.
	open func(t *testing.T) webhook.Inbox
	// apply writes a row under the name into the database of the inbox, in the transaction that completes the event, if the guard lets
	// it; otherwise it returns webhook.ErrSuperseded.
	apply func(ctx context.Context, name string, g guard) error
	// effects counts the rows under the name.
	effects func(t *testing.T, name string) int
	// breakSource makes every transaction fail that stores an event of the source. Nil: the store has no such means.
	breakSource func(t *testing.T, source string)
	// patience is the lease of cases that wait for one to lapse.
	patience time.Duration
	// holds: Due hides from others what it returned.
	holds bool
	// counts: conflicts are counted in the row.
	counts bool
}

// guard is what apply asks first. The zero guard: nothing.
type guard struct {
	entity string
	at     time.Time // of the state, for Later; zero: it is a part, for Once
	id     string
}

// allowed asks one of the two guards.
func (g guard) allowed(later func(entity string, at time.Time, id string) (bool, error), once func(entity, id string) (bool, error)) error {
	if g == (guard{}) {
		return nil
	}
	ask := func() (bool, error) { return later(g.entity, g.at, g.id) }
	if g.at.IsZero() {
		ask = func() (bool, error) { return once(g.entity, g.id) }
	}
	ok, err := ask()
	if err == nil && !ok {
		err = fmt.Errorf("event %s: %w", g.id, webhook.ErrSuperseded)
	}
	return err
}

// subjects are the inboxes that every case is run over.
func subjects() map[string]func(*testing.T) subject {
	return map[string]func(*testing.T) subject{
		"sqlite":    sqliteSubject,
		"postgres":  postgresSubject,
		"firestore": firestoreSubject,
		"spanner":   spannerSubject,
	}
}

func tableName() string { return "t_" + strings.ToLower(rand.Text()[:12]) }

// closing closes an inbox with its test.
func closing[S webhook.Inbox](t *testing.T, s S, err error) webhook.Inbox {
	t.Helper()
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

func sqliteSubject(t *testing.T) subject {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
	open := func(t *testing.T) webhook.Inbox {
		t.Helper()
		s, err := sqliteinbox.Open(t.Context(), "sqlite://"+path)
		return closing(t, s, err)
	}
	open(t) // makes the tables
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	do := execIn(db)
	do(t, "CREATE TABLE effects (name TEXT)")
	return subject{
		open: open, patience: 300 * time.Millisecond, holds: true, counts: true,
		apply: func(ctx context.Context, name string, g guard) error {
			return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
				err := g.allowed(
					func(entity string, at time.Time, id string) (bool, error) {
						return sqliteinbox.Later(ctx, tx, entity, at, id)
					},
					func(entity, id string) (bool, error) { return sqliteinbox.Once(ctx, tx, entity, id) })
				if err == nil {
					_, err = tx.ExecContext(ctx, "INSERT INTO effects VALUES (?)", name)
				}
				return err
			})
		},
		effects: countIn(db, "SELECT count(*) FROM effects WHERE name = ?"),
		breakSource: func(t *testing.T, source string) {
			t.Helper()
			do(t, "CREATE TRIGGER broken AFTER INSERT ON "+webhook.DefaultTable+" WHEN NEW.source = '"+source+"' BEGIN SELECT RAISE(ABORT, 'disk on fire'); END")
		},
	}
}

func postgresSubject(t *testing.T) subject {
	t.Helper()
	url, table, effects := engines.Postgres(t), tableName(), tableName()
	if err := postgresinbox.Init(t.Context(), url+"&table="+table); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	do := execIn(db)
	do(t, "CREATE TABLE "+effects+" (name text)")
	return subject{
		open: func(t *testing.T) webhook.Inbox {
			t.Helper()
			s, err := postgresinbox.Open(t.Context(), url+"&table="+table)
			return closing(t, s, err)
		},
		patience: 300 * time.Millisecond, holds: true, counts: true,
		apply: func(ctx context.Context, name string, g guard) error {
			return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
				err := g.allowed(
					func(entity string, at time.Time, id string) (bool, error) {
						return postgresinbox.Later(ctx, tx, entity, at, id)
					},
					func(entity, id string) (bool, error) { return postgresinbox.Once(ctx, tx, entity, id) })
				if err == nil {
					_, err = tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1)", name)
				}
				return err
			})
		},
		effects: countIn(db, "SELECT count(*) FROM "+effects+" WHERE name = $1"),
		breakSource: func(t *testing.T, source string) { // at the commit
			t.Helper()
			do(t, "CREATE FUNCTION "+table+"_broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'disk on fire'; END $$")
			do(t, "CREATE CONSTRAINT TRIGGER broken AFTER INSERT ON "+table+" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.source = '"+source+
				"') EXECUTE FUNCTION "+table+"_broken()")
		},
	}
}

func execIn(db *sql.DB) func(t *testing.T, statement string) {
	return func(t *testing.T, statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func countIn(db *sql.DB, query string) func(t *testing.T, name string) int {
	return func(t *testing.T, name string) int {
		t.Helper()
		var n int
		if err := db.QueryRowContext(t.Context(), query, name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}
