package idempotencykey_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/firestore"
	"github.com/jackc/pgx/v5"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func tableName() string { return "t_" + strings.ToLower(rand.Text()[:12]) }

// answerOf makes the answer of an operation once its effect is written.
type answerOf func() (idempotencykey.Response, error)

// engine is a database that keeps both claims and effects.
type engine struct {
	// open opens a client of one and the same table of claims.
	open func(t *testing.T) claim.Store
	// insert writes the effect of a key in the transaction that completes it.
	insert func(ctx context.Context, key, id string, answer answerOf) error
	// effects are the ids of the effects by key.
	effects func(t *testing.T) map[string][]string
}

func allEngines() map[string]func(*testing.T) engine {
	return map[string]func(*testing.T) engine{"sqlite": sqliteEngine, "postgres": postgresEngine, "firestore": firestoreEngine}
}

// opened closes a store with its test.
func opened[S claim.Store](t *testing.T, s S, err error) S {
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

func sqliteEngine(t *testing.T) engine {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db"))
	first, err := sqliteclaim.Open(t.Context(), "sqlite://"+path)
	opened(t, first, err)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE effects (key TEXT, id TEXT)"); err != nil {
		t.Fatal(err)
	}
	return engine{
		open: func(t *testing.T) claim.Store {
			t.Helper()
			s, err := sqliteclaim.Open(t.Context(), "sqlite://"+path)
			return opened(t, s, err)
		},
		insert: func(ctx context.Context, key, id string, answer answerOf) error {
			return idempotencykey.CompleteTx(ctx, sqliteclaim.CompleteTx, func(tx *sql.Tx) (idempotencykey.Response, error) {
				if _, err := tx.ExecContext(ctx, "INSERT INTO effects VALUES (?, ?)", key, id); err != nil {
					return idempotencykey.Response{}, err
				}
				return answer()
			})
		},
		effects: func(t *testing.T) map[string][]string { t.Helper(); return rowsOf(t, db, "effects") },
	}
}

func postgresEngine(t *testing.T) engine {
	t.Helper()
	url := engines.Postgres(t)
	claims, effects := tableName(), tableName()
	if err := postgresclaim.Init(t.Context(), url+"&table="+claims); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+effects+" (key text, id text)"); err != nil {
		t.Fatal(err)
	}
	return engine{
		open: func(t *testing.T) claim.Store {
			t.Helper()
			s, err := postgresclaim.Open(t.Context(), url+"&table="+claims)
			return opened(t, s, err)
		},
		insert: func(ctx context.Context, key, id string, answer answerOf) error {
			return idempotencykey.CompleteTx(ctx, postgresclaim.CompleteTx, func(tx pgx.Tx) (idempotencykey.Response, error) {
				if _, err := tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1, $2)", key, id); err != nil {
					return idempotencykey.Response{}, err
				}
				return answer()
			})
		},
		effects: func(t *testing.T) map[string][]string { t.Helper(); return rowsOf(t, db, effects) },
	}
}

func rowsOf(t *testing.T, db *sql.DB, table string) map[string][]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT key, id FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	found := make(map[string][]string)
	for rows.Next() {
		var key, id string
		if err := rows.Scan(&key, &id); err != nil {
			t.Fatal(err)
		}
		found[key] = append(found[key], id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func firestoreEngine(t *testing.T) engine {
	t.Helper()
	addr := engines.Firestore(t)
	claims, effects := tableName(), tableName()
	open := func(t *testing.T) *firestoreclaim.Store {
		t.Helper()
		// An emulator that has just started on a busy machine can take longer over its first call than Open gives it.
		for try := 1; ; try++ {
			conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() }) // the client over it may have closed it
			s, err := firestoreclaim.Open(t.Context(), "firestore://local-project/(default)/"+claims, firestoreclaim.WithClientOptions(option.WithGRPCConn(conn)))
			if err == nil || try == 5 {
				return opened(t, s, err)
			}
		}
	}
	own := open(t)
	return engine{
		open: func(t *testing.T) claim.Store { t.Helper(); return open(t) },
		insert: func(ctx context.Context, key, id string, answer answerOf) error {
			return idempotencykey.CompleteContextTx(ctx, firestoreclaim.CompleteTx, func(_ context.Context, tx *firestore.Transaction) (idempotencykey.Response, error) {
				doc := own.Client().Collection(effects).NewDoc()
				if err := tx.Create(doc, map[string]any{"key": key, "id": id}); err != nil {
					return idempotencykey.Response{}, err
				}
				return answer()
			})
		},
		effects: func(t *testing.T) map[string][]string {
			t.Helper()
			docs, err := own.Client().Collection(effects).Documents(t.Context()).GetAll()
			if err != nil {
				t.Fatal(err)
			}
			found := make(map[string][]string)
			for _, doc := range docs {
				var e struct{ Key, ID string }
				e.Key, _ = doc.Data()["key"].(string)
				e.ID, _ = doc.Data()["id"].(string)
				found[e.Key] = append(found[e.Key], e.ID)
			}
			return found
		},
	}
}
