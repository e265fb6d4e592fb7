package sqliteclaim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// maxResult is the greatest result kept, in bytes.
const maxResult = 1 << 20

// Store keeps claims in one table of a SQLite database. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	table string
	sql   texts
	owned bool
	// writer is held by the one write of this process: SQLite has no queue for writers, and those that poll for its lock starve.
	writer chan struct{}
}

var _ claim.Store = (*Store)(nil)

// Insert writes the record where none is, in one statement; a loser reads what is there with a second one.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	return s.write(ctx, id, r, func(r claim.Record) (time.Time, bool, error) {
		return writtenAt(ctx, s.db, s.sql.insert, bind(id, r)...)
	})
}

// Swap writes the record over the version old, in one statement; a loser reads what is there with a second one.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	return s.write(ctx, id, r, func(r claim.Record) (time.Time, bool, error) {
		return s.swap(ctx, s.db, id, old, r)
	})
}

func (s *Store) write(ctx context.Context, id string, r claim.Record, do func(claim.Record) (time.Time, bool, error)) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	if err := s.lock(ctx); err != nil {
		return claim.Snapshot{}, false, err
	}

	at, done, err := do(r)

	s.unlock()

	if err != nil {
		return claim.Snapshot{}, false, fmt.Errorf("write claim to sqlite: %w", err)
	}

	if done {
		return driver.Written(id, r, at), true, nil
	}

	return driver.Lost(ctx, s, id)
}

// lock waits for the other writes of this process. An error says that nothing was sent.
func (s *Store) lock(ctx context.Context) error {
	select {
	case s.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another write to sqlite: %w: %w", claim.ErrConflict, context.Cause(ctx))
	}
}

func (s *Store) unlock() { <-s.writer }

// querier is *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s *Store) swap(ctx context.Context, q querier, id string, old claim.Version, r claim.Record) (time.Time, bool, error) {
	attemptID, rev, ok := driver.SplitVersion(old)
	if !ok {
		return time.Time{}, false, nil // no record of this store has such a version
	}

	return writtenAt(ctx, q, s.sql.swap, append(bind(id, r), attemptID, rev)...)
}

// writtenAt runs a statement that returns the time of the row it wrote, or no row. The statement is run to its end, which is where
// SQLite commits it.
func writtenAt(ctx context.Context, q querier, statement string, args ...any) (at time.Time, written bool, err error) {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return time.Time{}, false, classify(err)
	}

	defer func() { err = errors.Join(err, classify(rows.Close())) }()

	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return time.Time{}, false, err
		}

		if at, err = parseTime(sql.NullString{String: text, Valid: true}); err != nil {
			return time.Time{}, false, err
		}

		written = true
	}

	return at, written, classify(rows.Err())
}

// Get returns the record of the run and the store's time.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	found, err := s.query(ctx, s.sql.get, id)
	if err != nil {
		return claim.Snapshot{}, fmt.Errorf("read claim from sqlite: %w", err)
	}

	if found.Version == "" {
		return found, claim.ErrNotFound
	}

	return found, nil
}

func (s *Store) query(ctx context.Context, statement, id string) (claim.Snapshot, error) {
	return scan(s.db.QueryRowContext(ctx, statement, id))
}

// List yields the records in the wanted statuses.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		statement, args := s.sql.list, []any{}
		if len(f.Statuses) > 0 {
			statement += " WHERE status IN (" + placeholders(1, len(f.Statuses)) + ")"

			for _, status := range f.Statuses {
				args = append(args, string(status))
			}
		}

		rows, err := s.db.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(claim.Snapshot{}, fmt.Errorf("list claims in sqlite: %w", classify(err)))

			return
		}

		defer func() { _ = rows.Close() }() // a failed close of a read loses nothing

		for rows.Next() {
			found, err := scan(rows)
			if !yield(found, err) || err != nil {
				return
			}
		}

		if err := rows.Err(); err != nil {
			yield(claim.Snapshot{}, fmt.Errorf("list claims in sqlite: %w", classify(err)))
		}
	}
}

// Caps says what SQLite can promise: on its one host, everything.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "sqlite", ServerClock: true, SurvivesFailover: true, Transactions: true, MaxResult: maxResult}
}

// DB is the database that the claims are in.
func (s *Store) DB() *sql.DB { return s.db }

// Close closes a database that Open opened.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}

	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close sqlite database: %w", err)
	}

	return nil
}

// bind is the arguments of a write: the id, then the columns.
func bind(id string, r claim.Record) []any {
	return []any{
		id, string(r.Status), r.AttemptID, r.Attempt, r.Counted, r.Rev, r.Lease.Microseconds(), formatTime(r.LeaseExpires),
		formatTime(r.ExpireAt), formatTime(r.ClaimedAt), r.Holder, r.Run, r.LastError, r.Fingerprint, r.Result,
	}
}

// scan reads a row of get or list. A row without a record has the zero Version.
func scan(row interface{ Scan(dest ...any) error }) (claim.Snapshot, error) {
	var (
		s                             claim.Snapshot
		now, written                  sql.NullString
		leaseExpires, expire, claims  sql.NullString
		id, status, attemptID, holder sql.NullString
		run, lastError, fingerprint   sql.NullString
		attempt, counted, rev, lease  sql.NullInt64
	)

	err := row.Scan(&now, &id, &written, &status, &attemptID, &attempt, &counted, &rev, &lease, &leaseExpires, &expire, &claims,
		&holder, &run, &lastError, &fingerprint, &s.Result)
	if err != nil {
		return claim.Snapshot{}, classify(err)
	}

	if s.Now, err = parseTime(now); err != nil || !id.Valid {
		return s, err
	}

	s.Record = claim.Record{
		Status: claim.Status(status.String), AttemptID: attemptID.String, Attempt: int(attempt.Int64), Counted: int(counted.Int64),
		Rev: rev.Int64, Lease: time.Duration(lease.Int64) * time.Microsecond, Holder: holder.String, Run: run.String,
		LastError: lastError.String, Fingerprint: fingerprint.String, Result: s.Result,
	}
	s.ID, s.Version = id.String, s.Record.Version()

	for field, text := range map[*time.Time]sql.NullString{
		&s.Written: written, &s.LeaseExpires: leaseExpires, &s.ExpireAt: expire, &s.ClaimedAt: claims,
	} {
		if *field, err = parseTime(text); err != nil {
			return claim.Snapshot{}, fmt.Errorf("record of attempt %s: %w", s.AttemptID, err)
		}
	}

	return s, nil
}

// formatTime is nil, NULL, for the zero time.
func formatTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}

	return t.UTC().Format(timeLayout)
}

func parseTime(text sql.NullString) (time.Time, error) {
	if !text.Valid {
		return time.Time{}, nil
	}

	t, err := time.Parse(time.RFC3339Nano, text.String)
	if err != nil {
		return time.Time{}, fmt.Errorf("time in the table: %w", err)
	}

	return t.UTC(), nil
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	const primary = 0xff // the low byte of an extended result code

	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & primary {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%w: %w", claim.ErrConflict, err)
		}
	}

	return err
}
