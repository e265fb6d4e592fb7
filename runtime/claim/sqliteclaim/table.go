package sqliteclaim

import (
	"context"
	"fmt"
	"strings"
)

// DDL returns the statements that create the table a URL names.
func DDL(url string) (string, error) {
	loc, err := parse(url)
	if err != nil {
		return "", err
	}

	return ddl(loc.table), nil
}

// ddl creates a table. Times are UTC texts of one width, which sort as times do; the lease is in microseconds.
func ddl(table string) string {
	return strings.ReplaceAll(`CREATE TABLE IF NOT EXISTS "{table}" (
  id            TEXT NOT NULL PRIMARY KEY,
  status        TEXT NOT NULL,
  attempt_id    TEXT NOT NULL,
  attempt       INTEGER NOT NULL,
  counted       INTEGER NOT NULL,
  rev           INTEGER NOT NULL,
  written_at    TEXT NOT NULL,
  lease         INTEGER NOT NULL,
  lease_expires TEXT,
  expire_at     TEXT,
  claimed_at    TEXT,
  holder        TEXT NOT NULL DEFAULT '',
  run           TEXT NOT NULL DEFAULT '',
  last_error    TEXT NOT NULL DEFAULT '',
  fingerprint   TEXT NOT NULL DEFAULT '',
  result        BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS "{table}_expire_at" ON "{table}" (expire_at);
`, "{table}", table)
}

// Init creates the table and its index where they are missing, and fails when a table of that name has other columns.
func (s *Store) Init(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, ddl(s.table)); err != nil {
		return fmt.Errorf("create table %s: %w", s.table, classify(err))
	}

	if _, err := s.query(ctx, s.sql.get, ""); err != nil {
		return fmt.Errorf("table %s is not a table of claims: %w", s.table, err)
	}

	return nil
}

// Init opens the database that the URL names and creates its table where it is missing.
func Init(ctx context.Context, url string) error {
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}

	return s.Close()
}

// columns are the fields of a record in the order in which statements bind and read them.
const columns = "status, attempt_id, attempt, counted, rev, lease, lease_expires, expire_at, claimed_at, holder, run, last_error, fingerprint, result"

const (
	// clock is the store's clock: SQLite reads it once a statement, after the statement has its lock.
	clock = "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"
	// timeLayout is the form of times in the table.
	timeLayout = "2006-01-02T15:04:05.000000Z"
	// final are the statuses that hold no lease.
	final = "'completed', 'failed', 'unknown', 'released'"
)

// texts are the statements over one table.
type texts struct{ insert, swap, get, list, purge string }

func statements(table string) texts {
	return texts{
		insert: fmt.Sprintf(`INSERT INTO %q (id, %s, written_at) VALUES (?1, %s, %s) ON CONFLICT (id) DO NOTHING RETURNING written_at`,
			table, columns, placeholders(2, 14), clock),
		swap: fmt.Sprintf(`UPDATE %q SET (%s, written_at) = (%s, %s) WHERE id = ?1 AND attempt_id = ?16 AND rev = ?17 RETURNING written_at`,
			table, columns, placeholders(2, 14), clock),
		get: fmt.Sprintf(`SELECT c.now, r.id, r.written_at, %s FROM (SELECT %s AS now) c LEFT JOIN %q r ON r.id = ?1`,
			columns, clock, table),
		list: fmt.Sprintf(`SELECT %s, id, written_at, %s FROM %q`, clock, columns, table),
		// A lease is live until written_at + lease, or for a record of other code until lease_expires.
		purge: fmt.Sprintf(`DELETE FROM %[1]q WHERE id IN (SELECT id FROM %[1]q WHERE expire_at < %[2]s AND (status IN (%[3]s)
  OR lease > 0 AND (julianday(%[2]s) - julianday(written_at)) * 86400e6 >= lease + 1000
  OR lease <= 0 AND lease_expires <= %[2]s) LIMIT ?1)`, table, clock, final),
	}
}

func placeholders(from, count int) string {
	marks := make([]string, count)
	for i := range marks {
		marks[i] = fmt.Sprintf("?%d", from+i)
	}

	return strings.Join(marks, ", ")
}
