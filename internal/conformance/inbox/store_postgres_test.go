package inbox_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
)

// postgresInbox is an inbox over a pool of the test's own.
func postgresInbox(t *testing.T) (s *postgresinbox.Store, pool *pgxpool.Pool, table string) {
	t.Helper()
	table = tableName()
	pool, err := pgxpool.New(t.Context(), engines.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if s, err = postgresinbox.New(pool, table); err != nil {
		t.Fatal(err)
	}
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, pool, table
}

func TestPostgresPassesOverEventsThatAnotherIsTaking(t *testing.T) {
	t.Parallel()
	s, pool, table := postgresInbox(t)
	first, second := entry("msg_1", `{}`), entry("msg_2", `{}`)
	for _, e := range []webhook.Entry{first, second} {
		if _, err := s.Accept(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM "+table+" WHERE id = $1 FOR UPDATE", first.ID); err != nil {
		t.Fatal(err)
	}
	found, err := s.Due(t.Context(), 8, time.Minute)
	if err != nil || len(found) != 1 || found[0].ID != second.ID {
		t.Errorf("while the first one is locked: %+v, %v", found, err)
	}
}

func TestPostgresFindsDueEventsByTheIndex(t *testing.T) {
	t.Parallel()
	_, pool, table := postgresInbox(t)
	// Many that are done, many that wait, few that are due.
	if _, err := pool.Exec(t.Context(), "INSERT INTO "+table+` (id, status, attempt_id, attempt, counted, rev, written_at, lease, lease_expires)
SELECT n, CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'released' END, '', 1, 1, 1, now(), interval '0',
CASE WHEN n < 20 THEN now() - interval '1 hour' ELSE now() + interval '1 hour' END FROM generate_series(1, 5000) n`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "ANALYZE "+table); err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query(t.Context(), "EXPLAIN SELECT id FROM "+table+` WHERE status IN ('released', 'in_progress') AND lease_expires <= statement_timestamp()
ORDER BY lease_expires LIMIT 8 FOR UPDATE SKIP LOCKED`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if plan := strings.Join(lines, "\n"); err != nil || !strings.Contains(plan, table+"_due") || strings.Contains(plan, "Sort") {
		t.Errorf("%v, plan:\n%s", err, plan)
	}
}

func TestPostgresGuardsCodeOverDatabaseSQL(t *testing.T) {
	t.Parallel()
	s, pool, _ := postgresInbox(t)
	effects := tableName()
	if _, err := pool.Exec(t.Context(), "CREATE TABLE "+effects+" (id text)"); err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := suite{subject: subject{open: func(*testing.T) webhook.Inbox { return s }}}.worker(t, func(ctx context.Context, e webhook.Event) error {
		return postgresclaim.CompleteSQLTx(ctx, func(tx *sql.Tx) error {
			at := noon
			if string(e.Payload) == "late" {
				at = noon.Add(-time.Hour)
			}
			added, err := postgresinbox.OnceSQL(ctx, tx, "order", e.ID)
			if err != nil || !added {
				t.Errorf("the part of %s: %v, %v", e.Payload, added, err)
			}
			latest, err := postgresinbox.LaterSQL(ctx, tx, "contact", at, e.ID)
			if err == nil && !latest {
				err = webhook.ErrSuperseded
			}
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT INTO "+effects+" VALUES ($1)", e.ID)
			}
			return err
		})
	})
	for _, step := range []struct {
		body string
		want webhook.Drained
	}{{"on time", webhook.Drained{Taken: 1, Completed: 1}}, {"late", webhook.Drained{Taken: 1, Superseded: 1}}} {
		if _, err := s.Accept(t.Context(), entry("msg "+step.body, step.body)); err != nil {
			t.Fatal(err)
		}
		if drained := drain(t, w); drained != step.want {
			t.Errorf("%s: %+v, want %+v", step.body, drained, step.want)
		}
	}
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+effects).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d effects, %v", n, err)
	}
}

func TestPostgresSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	url := engines.Postgres(t)
	missing := tableName()
	want := "the table " + missing + " is missing, create it with `terraform-provider-idempotent webhooks init`"
	if _, err := postgresinbox.Open(t.Context(), url+"&table="+missing); err == nil || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "runs init") {
		t.Errorf("no table: %v", err)
	}
	claims := url + "&table=" + tableName()
	if err := postgresclaim.Init(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	if _, err := postgresinbox.Open(t.Context(), claims); err == nil || !strings.Contains(err.Error(), "not one of an inbox") {
		t.Errorf("a table of claims: %v", err)
	}
	for range 2 {
		if err := postgresinbox.Init(t.Context(), claims); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgresinbox.Open(t.Context(), claims)
	closing(t, s, err)
}
