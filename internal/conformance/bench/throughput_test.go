package bench_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

// TestThroughputOfEachStore gives each store new runs, many at a time through one client, for some seconds.
func TestThroughputOfEachStore(t *testing.T) {
	if !measuring() {
		t.Skip("a measurement: it needs the machine to itself, see make bench")
	}
	stores := throughputStores()
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		t.Run(name, func(t *testing.T) {
			const together, long = 16, 3 * time.Second
			claimer := claim.New(stores[name](t), claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(30*time.Second))
			var (
				mu   sync.Mutex
				took []time.Duration
				all  sync.WaitGroup
			)
			began := time.Now()
			for range together {
				all.Go(func() {
					for time.Since(began) < long {
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
			rate := float64(len(took)) / time.Since(began).Seconds()
			row(t, "Throughput, sixteen new runs at a time", name, fmt.Sprintf("%.0f runs/s", rate), "median "+millis(median(took)), "")
		})
	}
}

func throughputStores() map[string]func(*testing.T) claim.Store {
	table := "t_" + strings.ToLower(rand.Text()[:12])
	return map[string]func(*testing.T) claim.Store{
		"memory": func(*testing.T) claim.Store { return memclaim.New() },
		"sqlite, each commit synced": func(t *testing.T) claim.Store {
			s, err := sqliteclaim.Open(t.Context(), "sqlite://"+filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db")))
			return opened(t, s, err)
		},
		"postgres, without fsync": func(t *testing.T) claim.Store {
			url := engines.Postgres(t) + "&table=" + table + "&pool_max_conns=16"
			if err := postgresclaim.Init(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			s, err := postgresclaim.Open(t.Context(), url)
			return opened(t, s, err)
		},
		"redis": func(t *testing.T) claim.Store {
			s, err := redisclaim.Open(t.Context(), engines.Redis(t)+"?table="+table)
			return opened(t, s, err)
		},
		"firestore emulator": func(t *testing.T) claim.Store {
			s, err := firestoreclaim.New((&wire{}).client(t), table)
			return opened(t, s, err)
		},
	}
}

func opened(t *testing.T, s claim.Store, err error) claim.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
