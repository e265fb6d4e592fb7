package conformance_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
)

// openPostgres opens a store over a table of its own.
func openPostgres(t *testing.T, change ...func(*pgxpool.Config)) *postgresclaim.Store {
	t.Helper()

	url := engines.Postgres(t) + "&table=" + tableName()
	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}

	opts := make([]postgresclaim.Option, len(change))
	for i := range change {
		opts[i] = postgresclaim.WithConfig(change[i])
	}

	s, err := postgresclaim.Open(t.Context(), url, opts...)
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

// postgresDB is a connection of the test's own, and a table for effects.
func postgresDB(t *testing.T) (db *sql.DB, effects string) {
	t.Helper()

	config, err := pgx.ParseConfig(engines.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}

	db = stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = db.Close() })

	effects = tableName()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+effects+" (name text)"); err != nil {
		t.Fatal(err)
	}

	return db, effects
}

// postgresSubject is PostgreSQL as the suite takes it.
func postgresSubject(t *testing.T) subject {
	t.Helper()

	db, _ := postgresDB(t)
	table := tableName()
	url := engines.Postgres(t) + "&table=" + table

	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}

	open := func(t *testing.T) claim.Store {
		t.Helper()

		s, err := postgresclaim.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(func() { _ = s.Close() })

		return s
	}

	del := func(ctx context.Context, id string) error {
		_, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE id = $1", id)

		return err
	}

	return subject{open: open, del: del, patience: 300 * time.Millisecond}
}

func TestPostgresRoundTrips(t *testing.T) {
	t.Parallel()

	_, effects := postgresDB(t)
	trips := new(atomic.Int64)
	s := openPostgres(t, func(c *pgxpool.Config) {
		c.ConnConfig.DialFunc = countedDial(trips)
		c.MaxConns = 1 // the trips that open a connection were counted by Open's
	})

	// With CompleteTx: claim, begin, effect, completion, commit.
	testRoundTrips(t, s, trips, roundTrips{fresh: 2, freshTx: 5, duplicate: 1, takeover: 3, renewal: 1}, func(ctx context.Context) error {
		return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1)", pgx.QueryExecModeExec, "effect")

			return err
		})
	})
}

func TestPostgresCompletesInTheTransactionOfTheEffect(t *testing.T) {
	t.Parallel()

	db, effects := postgresDB(t)
	insert := "INSERT INTO " + effects + " VALUES ($1)"
	rows := sqlRows(db, "SELECT count(*) FROM "+effects+" WHERE name = $1")

	t.Run("pgx", func(t *testing.T) {
		t.Parallel()

		testCompleteTx(t, transactional{store: openPostgres(t), rows: rows, completeTx: func(ctx context.Context, name string, after func() error) error {
			return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, insert, name); err != nil {
					return err
				}

				return after()
			})
		}})
	})

	t.Run("database sql", func(t *testing.T) {
		t.Parallel()

		testCompleteTx(t, transactional{store: openPostgres(t), rows: rows, completeTx: func(ctx context.Context, name string, after func() error) error {
			return postgresclaim.CompleteSQLTx(ctx, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, insert, name); err != nil {
					return err
				}

				return after()
			})
		}})
	})
}

// TestPostgresReturnsTheRowThatARivalCommittedMeanwhile holds the rival's insert open until the other one waits for it.
func TestPostgresReturnsTheRowThatARivalCommittedMeanwhile(t *testing.T) {
	t.Parallel()

	table := tableName()
	url := engines.Postgres(t) + "&table=" + table

	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}

	s, err := postgresclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	db, _ := postgresDB(t)

	rival, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := rival.ExecContext(t.Context(), `INSERT INTO `+table+` (id, status, attempt_id, attempt, counted, rev, written_at, lease)
VALUES ('id', 'in_progress', 'rival', 1, 1, 1, clock_timestamp(), interval '1 minute')`); err != nil {
		t.Fatal(err)
	}

	committed := make(chan error, 1)

	go func() {
		for waiting := 0; waiting == 0; {
			if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%'||$1||'%'`, table).Scan(&waiting); err != nil {
				committed <- err

				return
			}
		}

		committed <- rival.Commit()
	}()

	found, won, err := s.Insert(t.Context(), "id", claim.Record{AttemptID: "mine", Rev: 1})
	if err != nil || won || found.AttemptID != "rival" || found.Lease != time.Minute {
		t.Errorf("insert against a rival: %+v, %v, %v", found, won, err)
	}

	if err := <-committed; err != nil {
		t.Fatal(err)
	}
}

// TestPostgresGivesUpALockAsAConflict holds the row locked from another connection.
func TestPostgresGivesUpALockAsAConflict(t *testing.T) {
	t.Parallel()

	table := tableName()
	url := engines.Postgres(t) + "&table=" + table

	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}

	s, err := postgresclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	if _, won, err := s.Insert(t.Context(), "id", claim.Record{AttemptID: "holder", Rev: 1}); err != nil || !won {
		t.Fatal(won, err)
	}

	db, _ := postgresDB(t)

	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = other.Rollback() })

	if _, err := other.ExecContext(t.Context(), "SELECT * FROM "+table+" FOR UPDATE"); err != nil {
		t.Fatal(err)
	}

	if found, won, err := s.Insert(t.Context(), "id", claim.Record{AttemptID: "rival", Rev: 1}); won || err != nil || found.AttemptID != "holder" {
		t.Errorf("insert where a locked row is: won %v over %+v (%v), want to be told of it without waiting", won, found, err)
	}

	if _, err := other.ExecContext(t.Context(), "INSERT INTO "+table+" SELECT 'new', status, attempt_id, attempt, counted, rev, written_at, lease FROM "+table); err != nil {
		t.Fatal(err)
	}

	if _, _, err := s.Insert(t.Context(), "new", claim.Record{AttemptID: "rival", Rev: 1}); !errors.Is(err, claim.ErrConflict) {
		t.Errorf("insert beside one that is not committed: %v, want ErrConflict", err)
	}

	if _, _, err := s.Swap(t.Context(), "id", "holder/1", claim.Record{AttemptID: "rival", Rev: 2}); !errors.Is(err, claim.ErrConflict) {
		t.Errorf("swap of a locked row: %v, want ErrConflict", err)
	}
}

func TestPostgresPurgesWhatIsExpiredAndHoldsNoLease(t *testing.T) {
	t.Parallel()

	s := openPostgres(t)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)

	for id, r := range map[string]claim.Record{
		"done":           {Status: claim.StatusCompleted, ExpireAt: past},
		"lapsed":         {Status: claim.StatusInProgress, Lease: time.Microsecond, ExpireAt: past},
		"foreign lapsed": {Status: "running", LeaseExpires: past, ExpireAt: past},
		"live":           {Status: claim.StatusInProgress, Lease: time.Hour, LeaseExpires: past, ExpireAt: past},
		"foreign live":   {Status: "running", LeaseExpires: future, ExpireAt: past},
		"not expired":    {Status: claim.StatusCompleted, ExpireAt: future},
		"kept for ever":  {Status: claim.StatusCompleted},
	} {
		if _, won, err := s.Insert(t.Context(), id, r); err != nil || !won {
			t.Fatal(id, won, err)
		}
	}

	var deleted int64

	eventually(t, "the lapsed lease to be seen", func() bool {
		n, err := s.Purge(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		deleted += n

		return deleted == 3
	})

	for _, id := range []string{"live", "foreign live", "not expired", "kept for ever"} {
		if _, err := s.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestPostgresSaysHowToMakeAMissingTable(t *testing.T) {
	t.Parallel()

	table := tableName()

	_, err := postgresclaim.Open(t.Context(), engines.Postgres(t)+"&table="+table)
	if err == nil || !strings.Contains(err.Error(), "the table is missing, create it with `terraform-provider-idempotent runs init`") ||
		!strings.Contains(err.Error(), table) {
		t.Errorf("got %v", err)
	}
}

func TestPostgresNeverShowsThePassword(t *testing.T) {
	t.Parallel()

	const secret = "s3cr3t-word"

	url := engines.Postgres(t)
	host := strings.TrimPrefix(url[:strings.LastIndex(url, "/")], "postgres://postgres@")

	for _, url := range []string{
		"postgres://nobody:" + secret + "@" + host + "/nowhere",
		"postgres://nobody:" + secret + "@127.0.0.1:1/nowhere?connect_timeout=1",
		"postgres://nobody@" + host + "/nowhere?password=" + secret,
	} {
		_, err := postgresclaim.Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("got %v", err)
		}
	}
}

// TestPostgresDuplicatesWriteNothing: a row that is only looked at keeps its version, so that deliveries of what is done leave nothing
// for the vacuum.
func TestPostgresDuplicatesWriteNothing(t *testing.T) {
	t.Parallel()

	table := tableName()
	url := engines.Postgres(t) + "&table=" + table

	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}

	s, err := postgresclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	p := proposal(time.Minute)

	if got := claimer(s).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeExecuted {
		t.Fatal(got.Outcome, got.Err)
	}

	version := func() (at string) {
		t.Helper()

		if err := s.Pool().QueryRow(t.Context(), `SELECT ctid::text || xmin || xmax FROM `+table+` WHERE id = $1`, p.ID).Scan(&at); err != nil {
			t.Fatal(err)
		}

		return at
	}
	before := version()

	for range 3 {
		if got := claimer(s).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeDuplicate {
			t.Fatal(got.Outcome, got.Err)
		}
	}

	if after := version(); after != before {
		t.Errorf("the row was written anew: %s, then %s", before, after)
	}
}
