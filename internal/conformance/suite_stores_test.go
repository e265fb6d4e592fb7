package conformance_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// subject is a store under test: clients of one table of its own, and what the tests need to know of it.
type subject struct {
	open     conformance.Open
	del      func(ctx context.Context, id string) error
	patience time.Duration // the lease of cases that wait for one to lapse
}

// subjects are the stores that every proof is run over. Under the race detector, those that run in this process alone.
func subjects() map[string]func(*testing.T) subject {
	if raced {
		return map[string]func(*testing.T) subject{"memory": memorySubject, "sqlite": sqliteSubject}
	}

	return map[string]func(*testing.T) subject{
		"memory":    memorySubject,
		"sqlite":    sqliteSubject,
		"firestore": firestoreSubject,
		"postgres":  postgresSubject,
		"redis":     redisSubject,
		"spanner":   spannerSubject,
	}
}

func memorySubject(*testing.T) subject {
	store := memclaim.New()

	return subject{
		open:     func(*testing.T) claim.Store { return store },
		del:      func(_ context.Context, id string) error { store.Delete(id); return nil },
		patience: 100 * time.Millisecond,
	}
}

func sqliteSubject(t *testing.T) subject {
	t.Helper()

	path := filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db"))
	open := func(t *testing.T) claim.Store {
		t.Helper()

		return openSQLite(t, "sqlite://"+path+"?table=claims")
	}

	open(t) // makes the table

	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = db.Close() })

	del := func(ctx context.Context, id string) error {
		_, err := db.ExecContext(ctx, "DELETE FROM claims WHERE id = ?", id)

		return err
	}

	return subject{open: open, del: del, patience: 300 * time.Millisecond}
}

func firestoreSubject(t *testing.T) subject {
	t.Helper()

	host, collection := engines.Firestore(t), tableName()
	open := func(t *testing.T) *firestoreclaim.Store {
		t.Helper()

		var (
			s   *firestoreclaim.Store
			err error
		)

		eventually(t, "the emulator, which is slow at first", func() bool {
			s, err = firestoreclaim.Open(t.Context(), "firestore://local-project/(default)/"+collection,
				firestoreclaim.WithClientOptions(option.WithGRPCConn(emulators.Conn(t, host, new(atomic.Int64)))))

			return err == nil
		})
		t.Cleanup(func() { _ = s.Close() })

		return s
	}

	admin := open(t)
	del := func(ctx context.Context, id string) error {
		_, err := admin.Client().Collection(collection).Doc(id).Delete(ctx)

		return err
	}

	return subject{
		open: func(t *testing.T) claim.Store {
			t.Helper()

			return open(t)
		},
		del: del, patience: 500 * time.Millisecond,
	}
}

func TestStoresConform(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := start(t)
			conformance.Run(t, s.open, conformance.WithDelete(s.del), conformance.WithPatience(s.patience))
		})
	}
}
