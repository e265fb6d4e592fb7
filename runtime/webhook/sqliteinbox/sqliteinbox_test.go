package sqliteinbox_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/sqliteinbox"
)

func database(t *testing.T, path, settings string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func open(t *testing.T, url string) *sqliteinbox.Store {
	t.Helper()
	s, err := sqliteinbox.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestManyProcessesPrepareOneFile(t *testing.T) {
	t.Parallel()
	url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := sqliteinbox.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := sqliteinbox.Init(t.Context(), url); err != nil {
		t.Error(err)
	}
	receipt, err := open(t, url).Accept(t.Context(), webhook.NewEntry("acme", "msg_1", "", nil))
	if err != nil || receipt.Duplicate {
		t.Errorf("%+v, %v", receipt, err)
	}
}

// TestTheInboxIsOneOfTheCallersDatabase uses one that begins its transactions as readers, as database/sql does by default, and a table of
// claims that becomes one of an inbox.
func TestTheInboxIsOneOfTheCallersDatabase(t *testing.T) {
	t.Parallel()
	db := database(t, filepath.Join(t.TempDir(), "app.db"), "?_busy_timeout=5000&_journal_mode=WAL")
	claims, err := sqliteclaim.New(db, "events")
	if err != nil {
		t.Fatal(err)
	}
	if err := claims.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := sqliteinbox.New(db, "events")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one changes nothing
		if err := s.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e := webhook.NewEntry("acme", "msg_1", "", []byte("x"))
	if _, err := s.Accept(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w, err := webhook.NewWorker(webhook.WorkerConfig{Inbox: s, Work: func(ctx context.Context, e webhook.Event) error {
		return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE effects AS SELECT ? AS id", e.ID)
			return err
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if drained, err := w.Drain(t.Context()); err != nil || drained.Completed != 1 {
		t.Errorf("%+v, %v", drained, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var id string
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM effects").Scan(&id); err != nil || id != e.ID {
		t.Errorf("effect %q, %v: the database is the caller's to close", id, err)
	}
}

func TestTheStatementsMakeTheTables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	url := "sqlite://" + filepath.ToSlash(path)
	ddl, err := sqliteinbox.DDL(url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database(t, path, "").ExecContext(t.Context(), ddl); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, url).Accept(t.Context(), webhook.NewEntry("acme", "msg_1", "", nil)); err != nil {
		t.Error(err)
	}
	for _, table := range []string{"webhook_inbox", "webhook_inbox_entities", "webhook_inbox_parts", "webhook_inbox_due"} {
		if !strings.Contains(ddl, `"`+table+`"`) {
			t.Errorf("no %s in the statements", table)
		}
	}
}

func TestDueEventsAreFoundByTheIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.db")
	open(t, "sqlite://"+filepath.ToSlash(path))
	rows, err := database(t, path, "").QueryContext(t.Context(), `EXPLAIN QUERY PLAN SELECT id FROM webhook_inbox
WHERE status IN ('released', 'in_progress') AND lease_expires <= 'x' ORDER BY lease_expires LIMIT 8`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		found = append(found, detail)
	}
	plan := strings.Join(found, "\n")
	if err := rows.Err(); err != nil || !strings.Contains(plan, "webhook_inbox_due") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("%v, plan:\n%s", err, plan)
	}
}

func TestWhatCannotBeAnInboxIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.ToSlash(t.TempDir())
	for url, want := range map[string]string{
		"postgres://u:hunter2@h/d":                     "scheme",
		"sqlite://" + dir + "/":                        "names no file",
		"sqlite:a.db?table=bad-one":                    "table name",
		"sqlite:a.db?table=" + strings.Repeat("x", 60): "50 are the most",
		"sqlite://" + dir + "/none/a.db":               "open sqlite",
	} {
		_, err := sqliteinbox.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if _, err := sqliteinbox.New(nil, strings.Repeat("x", 60)); err == nil {
		t.Error("a table name that leaves no room is accepted")
	}
}

func TestTheMendOfAURLNamesTheTableOfInboxes(t *testing.T) {
	t.Parallel()
	const want = `sqlite store URL: it has no scheme; write sqlite:///absolute/path.db or sqlite:relative/path.db, with ?table=NAME for a table other than webhook_inbox`
	_, ddl := sqliteinbox.DDL("a.db")
	_, open := sqliteinbox.Open(t.Context(), "a.db")
	for name, err := range map[string]error{"DDL": ddl, "Open": open, "Init": sqliteinbox.Init(t.Context(), "a.db")} {
		if err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
	}
}

func TestGuardsWantTheWorkOfAnEventInThisInbox(t *testing.T) {
	t.Parallel()
	if _, err := sqliteinbox.Later(t.Context(), nil, "e", time.Now(), "i"); !errors.Is(err, claim.ErrNoAttempt) {
		t.Error(err)
	}
	if _, err := sqliteinbox.Once(t.Context(), nil, "e", "i"); !errors.Is(err, claim.ErrNoAttempt) {
		t.Error(err)
	}
	s, err := sqliteclaim.Open(t.Context(), "sqlite://"+filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	claim.New(s).Do(t.Context(), claim.Proposal{ID: "run", Lease: time.Minute}, func(ctx context.Context) error {
		if _, err := sqliteinbox.Later(ctx, nil, "e", time.Now(), "i"); err == nil || !strings.Contains(err.Error(), "not in one of this package") {
			t.Error(err)
		}
		return nil
	})
}

// TestTheDeadAreListedOverOneConnection: a list that is not at its end holds it.
func TestTheDeadAreListedOverOneConnection(t *testing.T) {
	t.Parallel()
	db := database(t, filepath.Join(t.TempDir(), "inbox.db"), "?_txlock=immediate")
	db.SetMaxOpenConns(1)
	s, err := sqliteinbox.New(db, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"msg_1", "msg_2"} {
		if _, err := s.Accept(t.Context(), webhook.NewEntry("acme", id, "", nil)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := webhook.NewWorker(webhook.WorkerConfig{
		Inbox: s, Logger: slog.New(slog.DiscardHandler),
		Work: func(context.Context, webhook.Event) error { return claim.Permanent(errors.New("never")) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if drained, err := w.Drain(t.Context()); err != nil || drained.Dead != 2 {
		t.Fatalf("%+v, %v", drained, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends what would wait for ever
	defer cancel()
	dead := 0
	for _, err := range webhook.Dead(ctx, s) {
		if err != nil {
			t.Fatal(err)
		}
		dead++
	}
	if dead != 2 {
		t.Errorf("%d are dead, want 2", dead)
	}
}
