package received_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/spanner"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	"google.golang.org/api/option"
	_ "modernc.org/sqlite" // the driver sqlite

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/firestoreinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/spannerinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/sqliteinbox"
)

// place is where a receiver has its inbox and its effects.
type place struct {
	store string
	env   []string
	inbox webhook.Inbox
	// rows reads two columns of a table of effects.
	rows func(t *testing.T, table, first, second string) [][2]string
}

func sqlitePlace(t *testing.T) place {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
	inbox, err := sqliteinbox.Open(t.Context(), "sqlite://"+path)
	p := opened(t, place{store: "sqlite://" + path}, inbox, err)
	return p.inSQL(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)", "")
}

func postgresPlace(t *testing.T) place {
	t.Helper()
	url, prefix := engines.Postgres(t), fmt.Sprintf("r%d_", rand.Uint32())
	store := url + "&table=" + prefix + "inbox"
	if err := postgresinbox.Init(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	inbox, err := postgresinbox.Open(t.Context(), store)
	return opened(t, place{store: store, env: []string{"EFFECTS=" + prefix}}, inbox, err).inSQL(t, "pgx", url, prefix)
}

func firestorePlace(t *testing.T) place {
	t.Helper()
	address, prefix := engines.Firestore(t), fmt.Sprintf("r%d_", rand.Uint32())
	p := place{
		store: "firestore://local-project/(default)/" + prefix + "inbox",
		env:   []string{"FIRESTORE_EMULATOR_HOST=" + address, "EFFECTS=" + prefix},
	}
	inbox, err := firestoreinbox.Open(t.Context(), p.store,
		firestoreclaim.WithClientOptions(option.WithGRPCConn(emulators.Conn(t, address, new(atomic.Int64)))))
	p = opened(t, p, inbox, err)
	p.rows = func(t *testing.T, table, first, second string) [][2]string {
		t.Helper()
		documents, err := inbox.Client().Collection(prefix + table).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		var all [][2]string
		for _, document := range documents {
			one, _ := document.Data()[first].(string)
			other, _ := document.Data()[second].(string)
			all = append(all, [2]string{one, other})
		}
		return all
	}
	return p
}

func spannerPlace(t *testing.T) place {
	t.Helper()
	address := engines.Spanner(t)
	database := emulators.SpannerDatabase(t, address, emulators.Instance(),
		"CREATE TABLE effects (id STRING(MAX) DEFAULT (GENERATE_UUID()), event STRING(MAX)) PRIMARY KEY (id)",
		"CREATE TABLE states (entity STRING(MAX), event STRING(MAX)) PRIMARY KEY (entity)")
	p := place{store: "spanner://" + database, env: []string{"SPANNER_EMULATOR_HOST=" + address}}
	// A connection for each, since the client that opens one closes it.
	options := func() spannerinbox.Option {
		return spannerinbox.WithClientOptions(emulators.Spanner(t, address, new(atomic.Int64))...)
	}
	if err := spannerinbox.Init(t.Context(), p.store, options()); err != nil {
		t.Fatal(err)
	}
	inbox, err := spannerinbox.Open(t.Context(), p.store, options())
	p = opened(t, p, inbox, err)
	p.rows = func(t *testing.T, table, first, second string) [][2]string {
		t.Helper()
		var all [][2]string
		err := inbox.Client().Single().Read(t.Context(), table, spanner.AllKeys(), []string{first, second}).Do(func(r *spanner.Row) error {
			var row [2]string
			if err := r.Column(0, &row[0]); err != nil {
				return err
			}
			all = append(all, row)
			return r.Column(1, &all[len(all)-1][1])
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	return p
}

func opened(t *testing.T, p place, inbox webhook.Inbox, err error) place {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inbox.Close() })
	p.inbox = inbox
	return p
}

// inSQL makes the tables of effects.
func (p place) inSQL(t *testing.T, driver, url, prefix string) place {
	t.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		"CREATE TABLE " + prefix + "effects (event TEXT)", "CREATE TABLE " + prefix + "states (entity TEXT PRIMARY KEY, event TEXT)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	p.rows = func(t *testing.T, table, first, second string) [][2]string {
		t.Helper()
		return rowsOf(t, db, "SELECT "+first+", "+second+" FROM "+prefix+table)
	}
	return p
}

// rowsOf reads two columns of text.
func rowsOf(t *testing.T, db *sql.DB, query string) [][2]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all [][2]string
	for rows.Next() {
		var row [2]string
		if err := rows.Scan(&row[0], &row[1]); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
