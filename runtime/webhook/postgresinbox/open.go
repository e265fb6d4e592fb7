package postgresinbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// Store keeps webhooks in one table, and what the guards know in two more. It is safe for concurrent use.
type Store struct {
	*postgresclaim.Store

	pool *pgxpool.Pool
	sql  texts
}

var (
	_ webhook.Inbox     = (*Store)(nil)
	_ webhook.Purger    = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// Open connects to the database that the URL names, as postgresclaim.Open does; without ?table= it is the table webhook_inbox. The
// caller closes it.
func Open(ctx context.Context, url string, opts ...postgresclaim.Option) (*Store, error) {
	url, table, err := driver.Table(url)
	if err != nil {
		return nil, fmt.Errorf("open postgres inbox: %w", err)
	}
	claims, err := postgresclaim.Open(ctx, url, opts...)
	if err != nil {
		return nil, fmt.Errorf("open postgres inbox: %w", driver.InboxURL(explain(err, table)))
	}
	s := newStore(claims, table)
	if err := s.probe(ctx); err != nil {
		return nil, fmt.Errorf("open postgres inbox %s: %w", table, errors.Join(err, claims.Close()))
	}
	return s, nil
}

// New returns an inbox over a pool that the caller made, with the given table or, for "", webhook_inbox. Its connections should have a
// lock_timeout of about a second. Close leaves the pool open.
func New(pool *pgxpool.Pool, table string) (*Store, error) {
	table = cmp.Or(table, webhook.DefaultTable)
	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("postgresinbox: %w", err)
	}
	claims, err := postgresclaim.New(pool, table)
	if err != nil {
		return nil, fmt.Errorf("postgresinbox: %w", err)
	}
	return newStore(claims, table), nil
}

func newStore(claims *postgresclaim.Store, table string) *Store {
	return &Store{Store: claims, pool: claims.Pool(), sql: statements(table)}
}

// Unwrap returns the claim store over the same table, for postgresclaim.CompleteTx.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Init connects to the database that the URL names and creates the tables where they are missing.
func Init(ctx context.Context, url string, opts ...postgresclaim.Option) error {
	url, table, err := driver.Table(url)
	if err != nil {
		return fmt.Errorf("init postgres inbox: %w", err)
	}
	// The claim package creates its part of the table, after which it can be opened.
	if err := postgresclaim.Init(ctx, url, opts...); err != nil {
		return fmt.Errorf("init postgres inbox: %w", driver.InboxURL(err))
	}
	claims, err := postgresclaim.Open(ctx, url, opts...)
	if err != nil {
		return fmt.Errorf("init postgres inbox: %w", err)
	}
	defer func() { _ = claims.Close() }() // a pool's close cannot fail
	return newStore(claims, table).Init(ctx)
}

// Init creates the tables and indexes where they are missing, and fails when a table of such a name has other columns.
func (s *Store) Init(ctx context.Context) error {
	if err := s.Store.Init(ctx); err != nil {
		return fmt.Errorf("init postgres inbox: %w", err)
	}
	if _, err := s.pool.Exec(ctx, s.sql.ddl); err != nil {
		return fmt.Errorf("init postgres inbox: %w", classify(err))
	}
	return s.probe(ctx)
}

// DDL returns the statements that create the tables of the inbox a URL names. They may be run again.
func DDL(url string) (string, error) {
	url, table, err := driver.Table(url)
	if err != nil {
		return "", fmt.Errorf("postgresinbox: %w", err)
	}
	claims, err := postgresclaim.DDL(url)
	if err != nil {
		return "", fmt.Errorf("postgresinbox: %w", driver.InboxURL(err))
	}
	return claims + ddl(table), nil
}

// explain names the command that makes the tables of an inbox, where the store of claims names that of its own.
func explain(err error, table string) error {
	const undefinedTable = "42P01"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedTable {
		return fmt.Errorf("the table %s is missing, create it with `terraform-provider-idempotent webhooks init`: %w", table, e)
	}
	return err
}

// probe reads what only an inbox has.
func (s *Store) probe(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, s.sql.load, exec, "")
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42703" { // undefined column
		return fmt.Errorf("the table is not one of an inbox, create its columns with `terraform-provider-idempotent webhooks init` or name another table: %w", err)
	}
	return err
}

// ddl is what an inbox has beside the table of claims.
func ddl(table string) string {
	return strings.ReplaceAll(`ALTER TABLE "{table}"
  ADD COLUMN IF NOT EXISTS source       text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS webhook_id   text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS payload      bytea NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS content_type text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN IF NOT EXISTS conflicts    integer NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS "{table}_due" ON "{table}" (lease_expires) WHERE status IN ('released', 'in_progress');
CREATE TABLE IF NOT EXISTS "{table}_entities" (
  entity     text COLLATE "C" PRIMARY KEY,
  event_time timestamptz NOT NULL,
  id         text COLLATE "C" NOT NULL
);
CREATE TABLE IF NOT EXISTS "{table}_parts" (
  entity text COLLATE "C" NOT NULL,
  id     text COLLATE "C" NOT NULL,
  event  text NOT NULL,
  PRIMARY KEY (entity, id)
);
CREATE INDEX IF NOT EXISTS "{table}_parts_event" ON "{table}_parts" (event);
`, "{table}", table)
}

// texts are the statements over one inbox.
type texts struct{ ddl, accept, due, load, purge, later, once string }

// event are the columns of an event in the order in which scan takes them.
const event = "r.id, r.run, r.source, r.webhook_id, r.payload, r.content_type, r.fingerprint, r.received_at, r.conflicts"

func statements(table string) texts {
	return texts{
		ddl: ddl(table),
		// Returns the row unless it was there with the same body, which writes nothing. The attempt id tells whose it is.
		accept: fmt.Sprintf(`INSERT INTO %q AS r (id, status, attempt_id, attempt, counted, rev, written_at, lease, lease_expires, run, fingerprint,
  source, webhook_id, payload, content_type, received_at)
VALUES ($1::text, $2::text, $3::text, $4::integer, $5::integer, $6::bigint, clock_timestamp(), interval '0', clock_timestamp(), $7::text, $8::text,
  $9::text, $10::text, $11::bytea, $12::text, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET conflicts = r.conflicts + 1 WHERE r.fingerprint <> excluded.fingerprint
RETURNING r.attempt_id`, table),
		// Rows that another worker is taking are passed over. The claim writes the due time anew.
		due: fmt.Sprintf(`WITH due AS (SELECT id, lease_expires FROM %[1]q
  WHERE status IN ('released', 'in_progress') AND lease_expires <= statement_timestamp()
  ORDER BY lease_expires LIMIT $1::integer FOR UPDATE SKIP LOCKED)
UPDATE %[1]q r SET lease_expires = clock_timestamp() + $2::bigint * interval '1 microsecond' FROM due WHERE r.id = due.id
RETURNING due.lease_expires, %[2]s`, table, event),
		load: fmt.Sprintf(`SELECT %s FROM %q r WHERE r.id = $1::text`, event, table),
		// Completed events go, and with them what the guards know of their parts.
		purge: fmt.Sprintf(`WITH gone AS (DELETE FROM %[1]q WHERE ctid = ANY (ARRAY (SELECT ctid FROM %[1]q
  WHERE status = 'completed' AND expire_at < statement_timestamp() LIMIT $1::integer FOR UPDATE SKIP LOCKED)) RETURNING id),
parts AS (DELETE FROM %[2]q WHERE event IN (SELECT id FROM gone))
SELECT count(*) FROM gone`, table, table+"_parts"),
		later: fmt.Sprintf(`INSERT INTO %q AS e (entity, event_time, id) VALUES ($1::text, $2::timestamptz, $3::text)
ON CONFLICT (entity) DO UPDATE SET event_time = excluded.event_time, id = excluded.id
WHERE (e.event_time, e.id) < (excluded.event_time, excluded.id)`, table+"_entities"),
		once: fmt.Sprintf(`INSERT INTO %q (entity, id, event) VALUES ($1::text, $2::text, $3::text) ON CONFLICT DO NOTHING`, table+"_parts"),
	}
}
