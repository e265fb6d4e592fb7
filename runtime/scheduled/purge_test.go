package scheduled_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// hoarder is a store that does not delete expired records by itself.
type hoarder struct {
	*memclaim.Store

	purges atomic.Int64
	purge  func(context.Context) (int64, error)
}

func (s *hoarder) Purge(ctx context.Context) (int64, error) {
	s.purges.Add(1)
	return s.purge(ctx)
}

func newHoarder(t *testing.T, purge func(context.Context) (int64, error)) (*fixture, *hoarder) {
	t.Helper()
	store := &hoarder{Store: memclaim.New(), purge: purge}
	return newFixture(t, func(c *scheduled.Config) { c.Store = store }), store
}

func TestExpiredRecordsAreDeletedOnceAnHourBesideADelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, store := newHoarder(t, func(context.Context) (int64, error) { time.Sleep(10 * time.Second); return 7, nil })
		for i, want := range []int64{1, 1, 1, 2} {
			began := time.Now()
			f.want(t, deliver(due()), 200, claim.OutcomeExecuted)
			if took := time.Since(began); took != 0 {
				t.Errorf("delivery %d waited %v for the purge", i, took)
			}
			synctest.Wait()
			if n := store.purges.Load(); n != want {
				t.Errorf("after delivery %d: %d purges; want %d", i, n, want)
			}
			time.Sleep(20 * time.Minute)
		}
		if log := f.log.String(); !strings.Contains(log, `"expired records deleted","records":7`) {
			t.Errorf("the log does not tell of it: %s", log)
		}
	})
}

func TestPurgeThatFailsIsLoggedAndNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := newHoarder(t, func(context.Context) (int64, error) { return 0, errors.New("permission denied") })
		f.want(t, deliver(due()), 200, claim.OutcomeExecuted)
		synctest.Wait()
		if log := f.log.String(); !strings.Contains(log, "permission denied") {
			t.Errorf("the log does not tell of it: %s", log)
		}
	})
}

func TestPurgeGoesOnAfterItsDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := newHoarder(t, func(ctx context.Context) (int64, error) { time.Sleep(10 * time.Second); return 7, ctx.Err() })
		ctx, cancel := context.WithCancel(t.Context())
		f.want(t, deliver(due()).WithContext(ctx), 200, claim.OutcomeExecuted)
		cancel() // as a server does once the reply is out
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if log := f.log.String(); !strings.Contains(log, `"expired records deleted","records":7`) {
			t.Errorf("the log does not tell of it: %s", log)
		}
	})
}

func TestNoPurgeBeginsAfterTheShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, store := newHoarder(t, func(context.Context) (int64, error) { return 0, nil })
		if err := f.handler.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want(t, deliver(due()), 500, "")
		synctest.Wait()
		if n := store.purges.Load(); n != 0 {
			t.Errorf("%d purges", n)
		}
	})
}

func TestShutdownEndsAPurge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, store := newHoarder(t, func(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() })
		f.want(t, deliver(due()), 200, claim.OutcomeExecuted)
		began := time.Now()
		if err := f.handler.Shutdown(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("shut down after %v with %v", time.Since(began), err)
		}
		f.want(t, deliver(due().Add(time.Second)), 500, "")
		if n := store.purges.Load(); n != 1 {
			t.Errorf("%d purges; want none after the shutdown", n)
		}
		if strings.Contains(f.log.String(), "not deleted") {
			t.Errorf("the log complains of it: %s", f.log)
		}
	})
}
