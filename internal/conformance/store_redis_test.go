package conformance_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
)

func openRedis(t *testing.T, url string, opts ...redisclaim.Option) *redisclaim.Store {
	t.Helper()

	s, err := redisclaim.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	return s
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()

	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}

	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })

	return client
}

// redisSubject is Redis as the suite takes it.
func redisSubject(t *testing.T) subject {
	t.Helper()

	url, table := engines.Redis(t), tableName()
	client := redisClient(t, url)

	open := func(t *testing.T) claim.Store {
		t.Helper()

		return openRedis(t, url+"?table="+table)
	}

	del := func(ctx context.Context, id string) error { return client.Del(ctx, table+":"+id).Err() }

	return subject{open: open, del: del, patience: 200 * time.Millisecond}
}

func TestRedisRoundTrips(t *testing.T) {
	t.Parallel()

	trips := new(atomic.Int64)
	s := openRedis(t, engines.Redis(t)+"?table="+tableName(), redisclaim.WithOptions(func(o *redis.Options) {
		o.Dialer = countedDial(trips)
		o.PoolSize = 1 // the trips that open a connection were counted by Open's
	}))

	testRoundTrips(t, s, trips, roundTrips{fresh: 2, duplicate: 1, takeover: 3, renewal: 1}, nil)
}

func TestRedisRefusesAServerThatEvicts(t *testing.T) {
	t.Parallel()

	_, err := redisclaim.Open(t.Context(), engines.OwnRedis(t, "--maxmemory-policy", "volatile-lru").URL())
	if !errors.Is(err, redisclaim.ErrEvicts) || !strings.Contains(err.Error(), "its maxmemory-policy is volatile-lru, which forgets claims") {
		t.Errorf("got %v", err)
	}
}

func TestRedisRefusesAtMostOnce(t *testing.T) {
	t.Parallel()

	s := openRedis(t, engines.Redis(t)+"?table="+tableName())
	p := proposal(time.Minute)
	p.AtMostOnce = true

	ran := false
	got := claimer(s).Do(t.Context(), p, func(context.Context) error {
		ran = true

		return nil
	})

	if got.Outcome != claim.OutcomeUnavailable || !errors.Is(got.Err, claim.ErrPolicy) || ran {
		t.Errorf("at_most_once on Redis: %s (%v), work run: %v", got.Outcome, got.Err, ran)
	}
}

func TestRedisKeepsARecordPastItsExpiryAndItsLease(t *testing.T) {
	t.Parallel()

	url, table := engines.Redis(t), tableName()
	s, client := openRedis(t, url+"?table="+table), redisClient(t, url)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)

	for id, c := range map[string]struct {
		record      claim.Record
		least, most time.Duration // of the time that it is kept
	}{
		"expired":       {claim.Record{Status: claim.StatusCompleted, ExpireAt: past}, 30 * time.Second, 2 * time.Minute},
		"live":          {claim.Record{Status: claim.StatusInProgress, Lease: time.Hour, ExpireAt: past}, 59 * time.Minute, 62 * time.Minute},
		"not expired":   {claim.Record{Status: claim.StatusCompleted, ExpireAt: future}, 59 * time.Minute, 62 * time.Minute},
		"kept for ever": {claim.Record{Status: claim.StatusCompleted}, -1, -1},
	} {
		if _, won, err := s.Insert(t.Context(), id, c.record); err != nil || !won {
			t.Fatal(won, err)
		}

		got, err := client.PTTL(t.Context(), table+":"+id).Result()
		if err != nil || got < c.least || got > c.most {
			t.Errorf("%s: kept for %v (%v), want between %v and %v", id, got, err, c.least, c.most)
		}
	}
}

// TestRedisKeepsClaimsOverARestart restarts a server that writes every command to disk.
func TestRedisKeepsClaimsOverARestart(t *testing.T) {
	t.Parallel()

	server := engines.OwnRedis(t)
	s := openRedis(t, server.URL())
	p := proposal(time.Minute)

	got := claimer(s).Do(t.Context(), p, func(context.Context) error {
		server.Restart(t) // the scripts are gone, and the connections

		return nil
	})
	if got.Outcome != claim.OutcomeExecuted {
		t.Errorf("over a restart: %s (%v), want executed", got.Outcome, got.Err)
	}

	if got := claimer(s).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeDuplicate {
		t.Errorf("afterwards: %s (%v), want duplicate", got.Outcome, got.Err)
	}
}
