package spannerinbox

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/spanner"
)

// purgeBatch is how many parts one transaction deletes.
const purgeBatch = 500

// PurgeParts deletes what [Once] recorded more than age ago for events whose rows are gone, and returns how many parts that were. The
// events themselves are removed by the table's row deletion policy. It reads the whole table of parts; call it now and then, with an
// age of at least the retention of completed events, where parts are many.
func (s *Store) PurgeParts(ctx context.Context, age time.Duration) (deleted int64, err error) {
	for {
		n, err := s.purgeParts(ctx, age)
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete parts in spanner: %w", explain(err, s.table+partsSuffix))
		}

		if n < purgeBatch {
			return deleted, nil
		}
	}
}

// purgeParts looks without locks: an event that is gone stays gone, or comes back as a new one, which the old parts are none of.
func (s *Store) purgeParts(ctx context.Context, age time.Duration) (int64, error) {
	parts := s.table + partsSuffix

	var keys []spanner.KeySet

	err := s.client.Single().Query(ctx, spanner.Statement{
		SQL: fmt.Sprintf("SELECT part.entity, part.id FROM `%s` AS part LEFT JOIN `%s` AS event ON event.id = part.event "+
			"WHERE event.id IS NULL AND part.added_at < TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @age MICROSECOND) LIMIT %d",
			parts, s.table, purgeBatch),
		Params: map[string]any{"age": age.Microseconds()},
	}).Do(func(row *spanner.Row) error {
		var entity, id string
		if err := row.Columns(&entity, &id); err != nil {
			return fmt.Errorf("read a row: %w", err)
		}

		keys = append(keys, spanner.Key{entity, id})

		return nil
	})
	if err != nil || len(keys) == 0 {
		return 0, classify(err)
	}

	_, err = s.client.Apply(ctx, []*spanner.Mutation{spanner.Delete(parts, spanner.KeySets(keys...))})
	if err != nil {
		return 0, classify(err)
	}

	return int64(len(keys)), nil
}
