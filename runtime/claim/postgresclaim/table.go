package postgresclaim

import (
	"context"
	"fmt"
	"strings"
)

// DDL returns the statements that create the table a URL names.
func DDL(url string) (string, error) {
	_, table, err := parse(url)
	if err != nil {
		return "", err
	}

	return ddl(table), nil
}

func ddl(table string) string {
	return strings.ReplaceAll(`CREATE TABLE IF NOT EXISTS "{table}" (
  id            text PRIMARY KEY,
  status        text NOT NULL,
  attempt_id    text NOT NULL,
  attempt       integer NOT NULL,
  counted       integer NOT NULL,
  rev           bigint NOT NULL,
  written_at    timestamptz NOT NULL,
  lease         interval NOT NULL,
  lease_expires timestamptz,
  expire_at     timestamptz,
  claimed_at    timestamptz,
  holder        text NOT NULL DEFAULT '',
  run           text NOT NULL DEFAULT '',
  last_error    text NOT NULL DEFAULT '',
  fingerprint   text NOT NULL DEFAULT '',
  result        bytea
);
CREATE INDEX IF NOT EXISTS "{table}_expire_at" ON "{table}" (expire_at);
`, "{table}", table)
}

// Init creates the table and its index where they are missing, and fails when a table of that name has other columns.
func (s *Store) Init(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, ddl(s.table)); err != nil {
		return fmt.Errorf("create postgres table %s: %w", s.table, classify(err))
	}

	rows, err := s.pool.Query(ctx, s.sql.get, exec, "")
	if err != nil {
		return fmt.Errorf("postgres table %s: %w", s.table, explain(err))
	}

	rows.Close()

	if err := rows.Err(); err != nil {
		return fmt.Errorf("postgres table %s: %w", s.table, explain(err))
	}

	return nil
}

// Init connects to the database that the URL names and creates its table where it is missing.
func Init(ctx context.Context, url string, opts ...Option) error {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return err
	}
	defer s.pool.Close()

	return s.Init(ctx)
}

// texts are the statements over one table.
type texts struct{ insert, swap, get, list, purge string }

const (
	// columns are the fields of a record in the order in which statements bind and read them; values are their parameters.
	columns = "status, attempt_id, attempt, counted, rev, lease, lease_expires, expire_at, claimed_at, holder, run, last_error, fingerprint, result"
	values  = "$2::text, $3::text, $4::integer, $5::integer, $6::bigint, $7::bigint * interval '1 microsecond', $8::timestamptz, " +
		"$9::timestamptz, $10::timestamptz, $11::text, $12::text, $13::text, $14::text, $15::bytea"
	// read is a row r as scan takes it, after the time and the id, NULL if there is none.
	read = "clock_timestamp(), r.id, r.written_at, r.status, r.attempt_id, r.attempt, r.counted, r.rev, " +
		"(extract(epoch FROM r.lease) * 1000000)::bigint, r.lease_expires, r.expire_at, r.claimed_at, r.holder, r.run, r.last_error, " +
		"r.fingerprint, r.result"
	// final are the statuses that hold no lease.
	final = "'completed', 'failed', 'unknown', 'released'"
)

func statements(table string) texts {
	return texts{
		// A row that is there is read and left alone: duplicates write nothing. Where none is seen, an upsert that changes nothing
		// returns also one that was committed while it waited, which DO NOTHING would not. A row that this statement inserted has no
		// xmax.
		insert: fmt.Sprintf(`WITH found AS (SELECT false, %[4]s FROM %[1]q r WHERE r.id = $1::text),
made AS (INSERT INTO %[1]q AS r (id, %[2]s, written_at) SELECT $1::text, %[3]s, clock_timestamp() WHERE NOT EXISTS (SELECT FROM found)
ON CONFLICT (id) DO UPDATE SET id = r.id RETURNING r.xmax = 0, %[4]s)
SELECT * FROM found UNION ALL SELECT * FROM made`, table, columns, values, read),
		swap: fmt.Sprintf(`UPDATE %q SET (%s, written_at) = (%s, clock_timestamp())
WHERE id = $1::text AND attempt_id = $16::text AND rev = $17::bigint RETURNING written_at`, table, columns, values),
		get:  fmt.Sprintf(`SELECT %s FROM (SELECT 1) one LEFT JOIN %q r ON r.id = $1::text`, read, table),
		list: fmt.Sprintf(`SELECT %s FROM %q r WHERE cardinality($1::text[]) = 0 OR r.status = ANY ($1::text[])`, read, table),
		// A lease is live until written_at + lease, or for a record of other code until lease_expires.
		purge: fmt.Sprintf(`DELETE FROM %[1]q WHERE ctid = ANY (ARRAY (SELECT ctid FROM %[1]q WHERE expire_at < statement_timestamp()
AND (status IN (%[2]s) OR lease > interval '0' AND written_at + lease < statement_timestamp()
OR lease <= interval '0' AND lease_expires < statement_timestamp()) LIMIT $1::integer FOR UPDATE SKIP LOCKED))`, table, final),
	}
}
