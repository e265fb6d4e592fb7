package redisclaim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

const (
	// maxResult is the greatest result kept, in bytes: it is in memory.
	maxResult = 256 << 10
	// scanCount is how many keys List asks for at once.
	scanCount = 500
)

// Store keeps claims under the keys of one table. It is safe for concurrent use.
type Store struct {
	client            redis.UniversalClient
	prefix            string
	insert, swap, get *redis.Script
	owned             bool
	offset            time.Duration
	offsetKnown       bool
}

var (
	_ claim.Store       = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

func newStore(client redis.UniversalClient, table string) *Store {
	return &Store{
		client: client, prefix: table + ":",
		insert: redis.NewScript(insertLua), swap: redis.NewScript(swapLua), get: redis.NewScript(getLua),
	}
}

// Insert writes the record where none is, or returns what is there, in one round trip.
func (s *Store) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	return s.write(ctx, s.insert, id, r)
}

// Swap writes the record over the version old, or returns what is there, in one round trip.
func (s *Store) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	attemptID, rev, ok := driver.SplitVersion(old)
	if !ok { // no record of this store has such a version
		return driver.Lost(ctx, s, id)
	}

	return s.write(ctx, s.swap, id, r, attemptID, rev)
}

func (s *Store) write(ctx context.Context, script *redis.Script, id string, r claim.Record, args ...any) (claim.Snapshot, bool, error) {
	if err := driver.CheckResult(r, maxResult); err != nil {
		return claim.Snapshot{}, false, err
	}

	r = driver.Normal(r)

	found, written, err := answer(script.Run(ctx, s.client, []string{s.prefix + id}, append(args, bind(r)...)...), id, r)
	if err != nil {
		return claim.Snapshot{}, false, fmt.Errorf("write claim to redis: %w", err)
	}

	return found, written, nil
}

// Get returns the record of the run and the server's time.
func (s *Store) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	found, _, err := answer(s.get.Run(ctx, s.client, []string{s.prefix + id}), id, claim.Record{})
	if err != nil {
		return claim.Snapshot{}, fmt.Errorf("read claim from redis: %w", err)
	}

	if found.Version == "" {
		return found, claim.ErrNotFound
	}

	return found, nil
}

// List yields the records in the wanted statuses. It walks the keys of the whole server; a record that is written for the first time
// meanwhile may be left out.
func (s *Store) List(ctx context.Context, f claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return func(yield func(claim.Snapshot, error) bool) {
		keys, err := s.keys(ctx)
		if err != nil {
			yield(claim.Snapshot{}, fmt.Errorf("list claims in redis: %w", classify(err)))

			return
		}

		for key := range keys {
			found, err := s.Get(ctx, strings.TrimPrefix(key, s.prefix))

			switch {
			case errors.Is(err, claim.ErrNotFound): // expired meanwhile
			case err != nil:
				yield(claim.Snapshot{}, err)

				return
			case f.Match(found.Status) && !yield(found, nil):
				return
			}
		}
	}
}

// keys walks the server, or every master of a cluster. A walk can return a key twice.
func (s *Store) keys(ctx context.Context) (map[string]struct{}, error) {
	var mu sync.Mutex // the masters are walked at once

	keys := map[string]struct{}{}
	walk := func(ctx context.Context, client redis.Cmdable) error {
		for each := client.Scan(ctx, 0, s.prefix+"*", scanCount).Iterator(); ; {
			if !each.Next(ctx) {
				return each.Err()
			}

			mu.Lock()
			keys[each.Val()] = struct{}{}
			mu.Unlock()
		}
	}

	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		return keys, cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return walk(ctx, master) })
	}

	return keys, walk(ctx, s.client)
}

// Caps says what Redis can promise: an acknowledged claim may be lost on a failover, and nothing is in a transaction with it.
func (s *Store) Caps() claim.Caps {
	return claim.Caps{Store: "redis", ServerClock: true, MaxResult: maxResult}
}

// Offset is the server's clock minus the local one, as Open found it.
func (s *Store) Offset() (offset time.Duration, known bool) { return s.offset, s.offsetKnown }

// Close closes a client that Open made.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}

	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close redis client: %w", err)
	}

	return nil
}

// classify marks errors that a retry may mend: the server refused the script because it was busy or not ready. Nil stays nil.
func classify(err error) error {
	for _, prefix := range []string{"BUSY ", "LOADING ", "TRYAGAIN ", "CLUSTERDOWN ", "MASTERDOWN "} {
		if redis.HasErrorPrefix(err, prefix) {
			return fmt.Errorf("%w: %w", claim.ErrConflict, err)
		}
	}

	return err
}
