package postgresclaim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

const (
	// maxResult is the greatest result kept, in bytes.
	maxResult = 1 << 20
	// purgeBatch is how many records one transaction of Purge deletes, so that it holds few locks and not for long.
	purgeBatch = 1000
	// exec sends a statement in one round trip, without preparing it: it costs the same on a new connection, and poolers between
	// the handler and the server need not know of it. The casts in the statements tell the types.
	exec = pgx.QueryExecModeExec
)

// Store keeps claims in one table of a PostgreSQL database. It is safe for concurrent use.
type Store struct {
	pool        *pgxpool.Pool
	table       string
	sql         texts
	owned       bool
	offset      time.Duration
	offsetKnown bool
}

var (
	_ claim.Store       = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// Insert writes the record where none is, or returns what is there, in one round trip.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	var inserted bool

	found, err := scan(s.pool.QueryRow(ctx, s.sql.insert, bind(id, driver.Normal(r))...), &inserted)
	if err != nil {
		return claim.Snapshot{}, false, fmt.Errorf("write claim to postgres: %w", err)
	}

	if inserted {
		found.Now = found.Written
	}

	return found, inserted, nil
}

// Swap writes the record over the version old in one round trip; a loser reads what is there with a second one.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	if args, ok := bindSwap(id, old, r); ok {
		var at time.Time

		err := s.pool.QueryRow(ctx, s.sql.swap, args...).Scan(&at)
		if err == nil {
			return driver.Written(id, r, at.UTC()), true, nil
		}

		if !errors.Is(err, pgx.ErrNoRows) {
			return claim.Snapshot{}, false, fmt.Errorf("write claim to postgres: %w", classify(err))
		}
	}

	return driver.Lost(ctx, s, id)
}

// Get returns the record of the run and the server's time.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	found, err := scan(s.pool.QueryRow(ctx, s.sql.get, exec, id))
	if err != nil {
		return claim.Snapshot{}, fmt.Errorf("read claim from postgres: %w", err)
	}

	if found.Version == "" {
		return found, claim.ErrNotFound
	}

	return found, nil
}

// List yields the records in the wanted statuses.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		wanted := make([]string, len(f.Statuses))
		for i, status := range f.Statuses {
			wanted[i] = string(status)
		}

		rows, err := s.pool.Query(ctx, s.sql.list, exec, wanted)
		if err != nil {
			yield(claim.Snapshot{}, fmt.Errorf("list claims in postgres: %w", classify(err)))

			return
		}
		defer rows.Close()

		for rows.Next() {
			found, err := scan(rows)
			if !yield(found, err) || err != nil {
				return
			}
		}

		if err := rows.Err(); err != nil {
			yield(claim.Snapshot{}, fmt.Errorf("list claims in postgres: %w", classify(err)))
		}
	}
}

// Purge deletes the records whose expire_at has passed, batch by batch, and returns how many. A record with a live lease stays,
// whatever its expire_at; so does one that a transaction holds locked, until the next time. An error leaves deleted what the batches
// before it deleted.
func (s *Store) Purge(ctx context.Context) (deleted int64, err error) {
	for {
		tag, err := s.pool.Exec(ctx, s.sql.purge, exec, purgeBatch)
		if err != nil {
			return deleted, fmt.Errorf("purge claims in postgres: %w", classify(err))
		}

		if deleted += tag.RowsAffected(); tag.RowsAffected() < purgeBatch {
			return deleted, nil
		}
	}
}

// Caps says what PostgreSQL can promise. A failover keeps what was acknowledged when its standby is synchronous, as those of Cloud
// SQL and AlloyDB are.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "postgres", ServerClock: true, SurvivesFailover: true, Transactions: true, MaxResult: maxResult}
}

// Offset is the server's clock minus the local one, as Open found it.
func (s *Store) Offset() (offset time.Duration, known bool) { return s.offset, s.offsetKnown }

// Pool holds the connections to the database that the claims are in.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Close closes a pool that Open made.
func (s *Store) Close() error {
	if s.owned {
		s.pool.Close()
	}

	return nil
}

// bind is the arguments of a write: how to send it, the id, then the columns.
func bind(id string, r claim.Record) []any {
	return []any{
		exec, id, string(r.Status), r.AttemptID, r.Attempt, r.Counted, r.Rev, r.Lease.Microseconds(), nullable(r.LeaseExpires),
		nullable(r.ExpireAt), nullable(r.ClaimedAt), r.Holder, r.Run, r.LastError, r.Fingerprint, r.Result,
	}
}

// bindSwap adds the version; ok is false for one that no record of this store has.
func bindSwap(id string, old claim.Version, r claim.Record) (args []any, ok bool) {
	attemptID, rev, ok := driver.SplitVersion(old)

	return append(bind(id, r), attemptID, rev), ok
}

// nullable is nil, NULL, for the zero time.
func nullable(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}

	return &t
}

// scan reads a row of the columns in read, after those that go to before. A row without a record has the zero Version.
func scan(row pgx.Row, before ...any) (claim.Snapshot, error) {
	var (
		s                                       claim.Snapshot
		written, leaseExpires, expire, claimed  *time.Time
		id, status, attemptID                   *string
		holder, runName, lastError, fingerprint *string
		attempt, counted                        *int
		rev, lease                              *int64
	)

	if err := row.Scan(append(before, &s.Now, &id, &written, &status, &attemptID, &attempt, &counted, &rev, &lease, &leaseExpires,
		&expire, &claimed, &holder, &runName, &lastError, &fingerprint, &s.Result)...); err != nil {
		return claim.Snapshot{}, classify(err)
	}

	s.Now = s.Now.UTC()
	if id == nil {
		return s, nil
	}

	s.Written = value(written).UTC()
	s.Record = claim.Record{
		Status: claim.Status(value(status)), AttemptID: value(attemptID), Attempt: value(attempt), Counted: value(counted),
		Rev: value(rev), Lease: time.Duration(value(lease)) * time.Microsecond, LeaseExpires: value(leaseExpires),
		ExpireAt: value(expire), ClaimedAt: value(claimed), Holder: value(holder), Run: value(runName), LastError: value(lastError),
		Fingerprint: value(fingerprint), Result: s.Result,
	}
	s.Record = driver.Normal(s.Record)
	s.ID, s.Version = *id, s.Record.Version()

	return s, nil
}

// value is zero for NULL.
func value[T any](p *T) T {
	if p == nil {
		var zero T

		return zero
	}

	return *p
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	const serialization, deadlock, lockTimeout = "40001", "40P01", "55P03"

	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case serialization, deadlock, lockTimeout:
			return fmt.Errorf("%w: %w", claim.ErrConflict, err)
		}
	}

	return err
}
