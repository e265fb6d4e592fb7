package bench_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// TestThroughputOfEachStore gives each store new runs, several at a time through one client, for some seconds. The numbers compare
// ways through this machine: emulators are slower than what they stand for, and a server beside its client is faster.
func TestThroughputOfEachStore(t *testing.T) {
	if !measuring() {
		t.Skip(measurement)
	}
	for _, store := range []struct {
		name     string
		open     func(testing.TB) claim.Store
		together int
	}{
		{"memory", func(testing.TB) claim.Store { return memclaim.New() }, 16},
		{"sqlite, each commit synced", func(t testing.TB) claim.Store { return process.SQLite(t).Store }, 16},
		{"postgres, 4 connections, not synced", func(t testing.TB) claim.Store { return process.Postgres(t).Store }, 16},
		{"redis, kept in memory", func(t testing.TB) claim.Store { return process.Redis(t).Store }, 16},
		{"firestore emulator", func(t testing.TB) claim.Store { return process.Firestore(t).Store }, 16},
		// Its emulator runs one transaction at a time.
		{"spanner emulator", func(t testing.TB) claim.Store { return process.Spanner(t).Store }, 1},
	} {
		t.Run(store.name, func(t *testing.T) {
			claimer := claim.New(store.open(t), claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(30*time.Second))
			freshRuns(t, claimer, store.together) // emulators are slow at first
			took, long := freshRuns(t, claimer, store.together)
			row(t, "Throughput of new runs", fmt.Sprintf("%s, %d at a time", store.name, store.together),
				fmt.Sprintf("%.0f runs/s, median %s", float64(len(took))/long.Seconds(), millis(median(took))), "", "")
		})
	}
}

// freshRuns does new runs for some seconds and returns how long each took, and all.
func freshRuns(t *testing.T, claimer *claim.Claimer, together int) (took []time.Duration, long time.Duration) {
	t.Helper()
	const atLeast = 3 * time.Second
	var (
		mu  sync.Mutex
		all sync.WaitGroup
	)
	began := time.Now()
	for range together {
		all.Go(func() {
			for time.Since(began) < atLeast {
				id, sent := rand.Text(), time.Now()
				got := claimer.Do(t.Context(), claim.Proposal{ID: id, Run: id, Lease: 5 * time.Minute, Retention: time.Hour}, nothing)
				mu.Lock()
				took = append(took, time.Since(sent))
				mu.Unlock()
				if got.Outcome != claim.OutcomeExecuted {
					t.Errorf("a new run: %s, %v", got.Outcome, got.Err)
					return
				}
			}
		})
	}
	all.Wait()
	return took, time.Since(began)
}
