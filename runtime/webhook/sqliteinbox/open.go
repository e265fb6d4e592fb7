package sqliteinbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// openTimeout bounds Open.
const openTimeout = 10 * time.Second

// Store keeps webhooks in one table, and what the guards know in two more. It is safe for concurrent use.
type Store struct {
	*sqliteclaim.Store

	db    *sql.DB
	table string
	sql   texts
	// writer is held by the one write of this inbox in this process: SQLite has no queue for writers.
	writer chan struct{}
}

var (
	_ webhook.Inbox  = (*Store)(nil)
	_ webhook.Purger = (*Store)(nil)
)

// Open opens the database file that the URL names, as sqliteclaim.Open does, and creates it and its tables where they are missing;
// without ?table= it is the table webhook_inbox. The caller closes it.
func Open(ctx context.Context, url string) (*Store, error) {
	url, table, err := driver.Table(url)
	if err != nil {
		return nil, fmt.Errorf("open sqlite inbox: %w", err)
	}
	claims, err := sqliteclaim.Open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("open sqlite inbox: %w", driver.InboxURL(err))
	}
	s := newStore(claims, table)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, claims.Close())
	}
	return s, nil
}

// New returns an inbox over a database that the caller opened, with the given table or, for "", webhook_inbox, which must exist
// ([Store.Init] creates it). The database should have a busy timeout and begin transactions as a writer (_txlock=immediate); Close
// leaves it open.
func New(db *sql.DB, table string) (*Store, error) {
	table = cmp.Or(table, webhook.DefaultTable)
	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("sqliteinbox: %w", err)
	}
	claims, err := sqliteclaim.New(db, table)
	if err != nil {
		return nil, fmt.Errorf("sqliteinbox: %w", err)
	}
	return newStore(claims, table), nil
}

func newStore(claims *sqliteclaim.Store, table string) *Store {
	return &Store{Store: claims, db: claims.DB(), table: table, sql: statements(table), writer: make(chan struct{}, 1)}
}

// Unwrap returns the claim store over the same table, for sqliteclaim.CompleteTx.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Init opens the database that the URL names and creates its tables where they are missing.
func Init(ctx context.Context, url string) error {
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	return s.Close()
}

// Init creates the tables and indexes where they are missing, and fails when a table of such a name has other columns.
func (s *Store) Init(ctx context.Context) error {
	if err := s.Store.Init(ctx); err != nil {
		return fmt.Errorf("init sqlite inbox: %w", err)
	}
	if err := s.create(ctx); err != nil {
		return fmt.Errorf("init sqlite inbox %s: %w", s.table, err)
	}
	return nil
}

// prepare is Init, tried again while other processes prepare the same file.
func (s *Store) prepare(ctx context.Context) error {
	const pause = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		err := s.Init(ctx)
		if err == nil || !errors.Is(err, claim.ErrConflict) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// create adds what an inbox has beside the table of claims, in one transaction, so that of several processes one does it.
func (s *Store) create(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return classify(err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	// The first statement writes, which takes the write lock, also where the caller's database begins transactions as readers.
	if _, err := tx.ExecContext(ctx, s.sql.tables); err != nil {
		return classify(err)
	}
	var columns int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info(?1) WHERE name = 'webhook_id'`, s.table).Scan(&columns); err != nil {
		return classify(err)
	}
	if columns == 0 {
		if _, err := tx.ExecContext(ctx, s.sql.columns); err != nil {
			return classify(err)
		}
	}
	if _, err := tx.ExecContext(ctx, s.sql.index); err != nil {
		return classify(err)
	}
	return classify(tx.Commit())
}

// DDL returns the statements that create the tables of the inbox a URL names, in an empty database.
func DDL(url string) (string, error) {
	url, table, err := driver.Table(url)
	if err != nil {
		return "", fmt.Errorf("sqliteinbox: %w", err)
	}
	claims, err := sqliteclaim.DDL(url)
	if err != nil {
		return "", fmt.Errorf("sqliteinbox: %w", driver.InboxURL(err))
	}
	s := statements(table)
	return claims + s.columns + s.index + s.tables, nil
}

// texts are the statements over one inbox.
type texts struct{ tables, columns, index, accept, due, hold, load, purge, parts, later, once string }

const (
	// clock is the store's clock, as sqliteclaim reads it.
	clock = "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"
	// event are the columns of an event in the order in which scan takes them.
	event = "id, run, source, webhook_id, payload, content_type, fingerprint, received_at, conflicts"
	// isDue is what the index due serves.
	isDue = "status IN ('released', 'in_progress') AND lease_expires <= " + clock
)

func statements(table string) texts {
	return texts{
		tables: strings.ReplaceAll(`CREATE TABLE IF NOT EXISTS "{table}_entities" (
  entity     TEXT NOT NULL PRIMARY KEY,
  event_time TEXT NOT NULL,
  id         TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS "{table}_parts" (
  entity TEXT NOT NULL,
  id     TEXT NOT NULL,
  event  TEXT NOT NULL,
  PRIMARY KEY (entity, id)
) STRICT;
CREATE INDEX IF NOT EXISTS "{table}_parts_event" ON "{table}_parts" (event);
`, "{table}", table),
		columns: strings.ReplaceAll(`ALTER TABLE "{table}" ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE "{table}" ADD COLUMN payload BLOB NOT NULL DEFAULT x'';
ALTER TABLE "{table}" ADD COLUMN content_type TEXT NOT NULL DEFAULT '';
ALTER TABLE "{table}" ADD COLUMN received_at TEXT;
ALTER TABLE "{table}" ADD COLUMN conflicts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "{table}" ADD COLUMN webhook_id TEXT NOT NULL DEFAULT '';
`, "{table}", table),
		index: strings.ReplaceAll(`CREATE INDEX IF NOT EXISTS "{table}_due" ON "{table}" (lease_expires) WHERE status IN ('released', 'in_progress');
`, "{table}", table),
		// Returns the row unless it was there with the same body, which writes nothing. The attempt id tells whose it is.
		accept: fmt.Sprintf(`INSERT INTO %q (id, status, attempt_id, attempt, counted, rev, written_at, lease, lease_expires, run, fingerprint,
  source, webhook_id, payload, content_type, received_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, %[2]s, 0, %[2]s, ?7, ?8, ?9, ?10, ?11, ?12, %[2]s)
ON CONFLICT (id) DO UPDATE SET conflicts = conflicts + 1 WHERE fingerprint <> excluded.fingerprint
RETURNING attempt_id`, table, clock),
		due: fmt.Sprintf(`SELECT %s FROM %q WHERE %s ORDER BY lease_expires LIMIT ?1`, event, table, isDue),
		hold: fmt.Sprintf(`UPDATE %q SET lease_expires = strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', ?2)
WHERE id IN (SELECT value FROM json_each(?1)) AND %s RETURNING id`, table, isDue),
		load: fmt.Sprintf(`SELECT %s FROM %q WHERE id = ?1`, event, table),
		purge: fmt.Sprintf(`DELETE FROM %[1]q WHERE id IN (SELECT id FROM %[1]q WHERE status = 'completed' AND expire_at < %[2]s LIMIT ?1)
RETURNING id`, table, clock),
		// What the guards know of parts goes with the events that told of them.
		parts: fmt.Sprintf(`DELETE FROM %q WHERE event IN (SELECT value FROM json_each(?1))`, table+"_parts"),
		later: fmt.Sprintf(`INSERT INTO %q AS e (entity, event_time, id) VALUES (?1, ?2, ?3)
ON CONFLICT (entity) DO UPDATE SET event_time = excluded.event_time, id = excluded.id
WHERE (e.event_time, e.id) < (excluded.event_time, excluded.id)`, table+"_entities"),
		once: fmt.Sprintf(`INSERT INTO %q (entity, id, event) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING`, table+"_parts"),
	}
}
