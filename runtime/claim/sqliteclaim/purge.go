package sqliteclaim

import (
	"context"
	"fmt"
)

// purgeBatch is how many records one transaction of Purge deletes, so that claims wait for milliseconds only.
const purgeBatch = 500

// Purge deletes the records whose expire_at has passed, batch by batch, and returns how many. A record with a live lease stays,
// whatever its expire_at. An error leaves deleted what the batches before it deleted.
func (s *Store) Purge(ctx context.Context) (deleted int64, err error) {
	for {
		res, err := s.db.ExecContext(ctx, s.sql.purge, purgeBatch)
		if err != nil {
			return deleted, fmt.Errorf("purge claims in sqlite: %w", classify(err))
		}

		n, err := res.RowsAffected()
		if err != nil {
			return deleted, fmt.Errorf("purge claims in sqlite: %w", err)
		}

		if deleted += n; n < purgeBatch {
			return deleted, nil
		}
	}
}
