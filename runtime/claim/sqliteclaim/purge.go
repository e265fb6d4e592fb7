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
		n, err := s.purgeOnce(ctx)
		deleted += n

		if err != nil {
			return deleted, fmt.Errorf("purge claims in sqlite: %w", err)
		}

		if n < purgeBatch {
			return deleted, nil
		}
	}
}

func (s *Store) purgeOnce(ctx context.Context) (int64, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.unlock()

	res, err := s.db.ExecContext(ctx, s.sql.purge, purgeBatch)
	if err != nil {
		return 0, classify(err)
	}

	return res.RowsAffected()
}
