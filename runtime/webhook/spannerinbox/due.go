package spannerinbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/iterator"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// dueTries is how often Due searches when others took all that it found.
const dueTries = 3

// Due finds the events that have waited longest, without locks, and takes those that nobody took meanwhile.
func (s *Store) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	if limit <= 0 {
		return nil, nil
	}

	ctx, cancel := bounded.Call(ctx)
	defer cancel()

	for range dueTries {
		ids, err := s.search(ctx, limit)
		if err != nil {
			return nil, fmt.Errorf("find due events in spanner: %w", explain(classify(err), s.table))
		}

		if len(ids) == 0 {
			return nil, nil
		}

		events, err := s.take(ctx, ids, hold)
		if err != nil {
			return nil, fmt.Errorf("take due events in spanner: %w", err)
		}

		if len(events) > 0 {
			return events, nil
		}
	}

	return nil, nil
}

// search returns the ids of due events, those that have waited longest first, from the index alone.
func (s *Store) search(ctx context.Context, limit int) ([]string, error) {
	rows := s.client.Single().Query(ctx, spanner.Statement{SQL: searchStatement(s.table), Params: map[string]any{"limit": int64(limit)}})
	defer rows.Stop()

	var ids []string

	for {
		row, err := rows.Next()
		if errors.Is(err, iterator.Done) {
			return ids, nil
		}

		if err != nil {
			return nil, err
		}

		var id string
		if err := row.Columns(&id); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}

		ids = append(ids, id)
	}
}

// searchStatement takes the first of each shard and merges them. The emulator's hint says that the index may be used though it leaves
// rows out, which the comparison with NULL makes sure of; Spanner sees that by itself, and passes over hints of the emulator.
func searchStatement(table string) string {
	return fmt.Sprintf("SELECT due.id FROM UNNEST(GENERATE_ARRAY(0, %d)) AS one CROSS JOIN UNNEST(ARRAY("+
		"SELECT AS STRUCT id, due_at FROM `%s`@{FORCE_INDEX=`%s`, spanner_emulator.disable_query_null_filtered_index_check=true} "+
		"WHERE shard = one AND due_at <= CURRENT_TIMESTAMP() ORDER BY due_at LIMIT @limit)) AS due ORDER BY due.due_at LIMIT @limit",
		shards-1, table, table+indexSuffix)
}

// take moves the due time of those events that are still due and returns them in the order of ids. The statement leaves the version
// and the time of the record alone.
func (s *Store) take(ctx context.Context, ids []string, hold time.Duration) ([]webhook.Event, error) {
	statement := spanner.Statement{
		SQL: fmt.Sprintf("UPDATE `%s` SET lease_expires = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL @hold MICROSECOND) "+
			"WHERE id IN UNNEST(@ids) AND status IN ('released', 'in_progress') AND lease_expires <= CURRENT_TIMESTAMP() "+
			"THEN RETURN %s", s.table, strings.Join(eventColumns(), ", ")),
		Params: map[string]any{"ids": ids, "hold": hold.Microseconds()},
	}

	var events []webhook.Event

	err := s.transact(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		events = nil

		return tx.Query(ctx, statement).Do(func(row *spanner.Row) error {
			e, err := readEvent(row)
			events = append(events, e)

			return err
		})
	})
	if err != nil {
		return nil, err
	}

	slices.SortFunc(events, func(a, b webhook.Event) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })

	return events, nil
}
