package spannerclaim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
)

// maxResult is the greatest result kept, in bytes.
const maxResult = 1 << 20

// errMoved rolls a transaction back whose version is not there.
var errMoved = errors.New("another version is there")

// Store keeps claims in one table of a Spanner database. It is safe for concurrent use.
type Store struct {
	client      *spanner.Client
	table       string
	update      string
	owned       bool
	offset      time.Duration
	offsetKnown bool
}

var (
	_ claim.Store       = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// Insert writes the record where none is: one call for the winner. A loser reads what is there with a second one; since the call is
// sent without the protection against replays that a second one would buy, what is there may be its own write.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	call, cancel := bounded.Call(ctx)
	defer cancel()

	at, err := s.client.Apply(call, []*spanner.Mutation{spanner.Insert(s.table, columns(), values(id, r))}, spanner.ApplyAtLeastOnce())

	switch {
	case err == nil:
		return driver.Written(id, r, at.UTC()), true, nil
	case spanner.ErrCode(err) == codes.AlreadyExists:
		return driver.Lost(ctx, s, id)
	default:
		return claim.Snapshot{}, false, fmt.Errorf("write claim to spanner: %w", classify(err))
	}
}

// Swap writes the record over the version old, in a read-write transaction of one statement.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	call, cancel := bounded.Call(ctx)
	defer cancel()

	done, err := s.client.ReadWriteTransactionWithOptions(call, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		return s.swap(ctx, tx, id, old, r)
	}, spanner.TransactionOptions{BeginTransactionOption: spanner.InlinedBeginTransaction})

	switch {
	case err == nil:
		return driver.Written(id, r, done.CommitTs.UTC()), true, nil
	case errors.Is(err, errMoved):
		return driver.Lost(ctx, s, id)
	default:
		return claim.Snapshot{}, false, fmt.Errorf("write claim to spanner: %w", classify(err))
	}
}

// swap is the statement of Swap in a transaction; errMoved if the version is not there.
func (s *Store) swap(ctx context.Context, tx *spanner.ReadWriteTransaction, id string, old claim.Version, r claim.Record) error {
	params, ok := updateParams(id, old, r)
	if !ok {
		return errMoved
	}

	n, err := tx.Update(ctx, spanner.Statement{SQL: s.update, Params: params})
	if err == nil && n == 0 {
		err = errMoved
	}

	return err
}

// Get returns the record of the run, by a strong read, and the read's timestamp.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	read := s.client.Single()
	defer read.Close()

	row, err := read.ReadRow(ctx, s.table, spanner.Key{id}, columns())
	if err != nil && !errors.Is(err, spanner.ErrRowNotFound) {
		return claim.Snapshot{}, fmt.Errorf("read claim from spanner: %w", classify(err))
	}

	now, nowErr := read.Timestamp()
	if nowErr != nil {
		return claim.Snapshot{}, fmt.Errorf("read claim from spanner: %w", nowErr)
	}

	if err != nil {
		return claim.Snapshot{Now: now.UTC()}, claim.ErrNotFound
	}

	return snapshot(row, now)
}

// List yields the records in the wanted statuses, all as of one time.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		var (
			read = s.client.Single()
			rows *spanner.RowIterator
		)
		defer read.Close()

		// A table of claims is small: its rows go by themselves. The filter is applied here and not by an index on status, which
		// every write would have to keep.
		rows = read.Read(ctx, s.table, spanner.AllKeys(), columns())
		defer rows.Stop()

		for {
			row, err := rows.Next()
			if errors.Is(err, iterator.Done) {
				return
			}

			found, err := s.listed(read, row, err)
			if err == nil && !f.Match(found.Status) {
				continue
			}

			if !yield(found, err) || err != nil {
				return
			}
		}
	}
}

func (s *Store) listed(read *spanner.ReadOnlyTransaction, row *spanner.Row, err error) (claim.Snapshot, error) {
	if err != nil {
		return claim.Snapshot{}, fmt.Errorf("list claims in spanner: %w", classify(err))
	}

	now, err := read.Timestamp()
	if err != nil {
		return claim.Snapshot{}, fmt.Errorf("list claims in spanner: %w", err)
	}

	return snapshot(row, now)
}

// Caps says what Spanner can promise: everything.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "spanner", ServerClock: true, SurvivesFailover: true, Transactions: true, MaxResult: maxResult}
}

// Offset is Spanner's clock minus the local one, as Open found it.
func (s *Store) Offset() (offset time.Duration, known bool) { return s.offset, s.offsetKnown }

// Close closes a client that Open made.
func (s *Store) Close() error {
	if s.owned {
		s.client.Close()
	}

	return nil
}

// classify marks errors that a retry may mend. Nil stays nil.
func classify(err error) error {
	if err != nil && (spanner.ErrCode(err) == codes.Aborted || supplanted(err)) {
		return fmt.Errorf("%w: %w", claim.ErrConflict, err)
	}

	return err
}

// supplanted reports whether the emulator dropped the transaction for another of the same client: it knows one at a time in a
// session, and a client has one session. It says so in several ways, by how far the transaction had come. Spanner itself does not
// say this.
func supplanted(err error) bool {
	code, text := spanner.ErrCode(err), err.Error()

	return slices.ContainsFunc(supplantings, func(s supplanting) bool { return s.code == code && strings.Contains(text, s.text) })
}

type supplanting struct {
	code codes.Code
	text string
}

var supplantings = []supplanting{
	{codes.NotFound, "Transaction not found"},
	{codes.FailedPrecondition, "Invalid transaction ID"},
	{codes.FailedPrecondition, "Transaction has already been closed"},
	{codes.FailedPrecondition, "Cannot commit a transaction after it has been rolled back"},
	{codes.FailedPrecondition, "Cannot read or query using a transaction after it has been committed or rolledback"},
}
