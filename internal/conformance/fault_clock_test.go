package conformance_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// TestAWrongClockOfOneClientChangesNothing: its lease, its records' ends and its forced runs are those of the store's clock.
func TestAWrongClockOfOneClientChangesNothing(t *testing.T) {
	t.Parallel()

	for name, start := range subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := start(t).open(t)

			for clock, wrong := range map[string]time.Duration{"ahead": 10 * time.Minute, "behind": -10 * time.Minute} {
				now := func() time.Time { return time.Now().Add(wrong) }
				c := claim.New(store, claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithClock(now),
					claim.WithStoreTimeout(10*time.Second))

				testWrongClockLeases(t, clock, store, c)
				testWrongClockForced(t, clock, store, now)
			}
		})
	}
}

func testWrongClockLeases(t *testing.T, clock string, store claim.Store, c *claim.Claimer) {
	t.Helper()

	live := proposal(5 * time.Minute)

	got := claimer(store).Do(t.Context(), live, func(ctx context.Context) error {
		rival := c.Do(ctx, live, func(context.Context) error {
			t.Errorf("%s: a live lease was taken over", clock)

			return nil
		})
		if rival.Outcome != claim.OutcomeInProgress || rival.RetryAfter > live.Lease {
			t.Errorf("%s: a live lease is %s for %v (%v)", clock, rival.Outcome, rival.RetryAfter, rival.Err)
		}

		return nil
	})
	if got.Outcome != claim.OutcomeExecuted {
		t.Errorf("%s: the holder: %s (%v)", clock, got.Outcome, got.Err)
	}

	dead := proposal(time.Minute)
	abandon(t, store, dead)

	if got := c.Do(t.Context(), dead, claim.Check); got.Outcome != claim.OutcomeExecuted || got.Attempt != 2 {
		t.Errorf("%s: a lapsed lease: %s by attempt %d (%v)", clock, got.Outcome, got.Attempt, got.Err)
	}

	found, err := store.Get(t.Context(), dead.ID)
	if err != nil {
		t.Fatal(err)
	}

	// Corrected by what the answers before showed of the store's clock.
	if kept := found.ExpireAt.Sub(found.Now); kept < dead.Retention-time.Minute || kept > dead.Retention+2*time.Minute {
		t.Errorf("%s: the record ends in %v, want about %v after its lease", clock, kept, dead.Retention)
	}
}

type anybody struct{}

func (anybody) Check(*http.Request) (caller.Caller, error) { return caller.Caller{Verified: true}, nil }

func testWrongClockForced(t *testing.T, clock string, store claim.Store, now func() time.Time) {
	t.Helper()

	var seen []run.Run

	h, err := scheduled.NewHandler(scheduled.Config{
		Store: store, Caller: anybody{}, Project: "p-" + clock, Region: "europe-west1", Now: now, Logger: slog.New(slog.DiscardHandler),
		Work:         func(_ context.Context, r run.Run) error { seen = append(seen, r); return nil },
		ClaimOptions: []claim.Option{claim.WithStoreTimeout(10 * time.Second)},
	})
	if err != nil {
		t.Fatal(err)
	}

	for kind, due := range map[string]time.Duration{"plain": 0, "forced": 5 * time.Minute} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set(run.HeaderScheduler, "true")
		r.Header.Set(run.HeaderJobName, "job")
		r.Header.Set(run.HeaderScheduleTime, run.FormatTime(time.Now().Add(due).Truncate(time.Second)))

		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)

		if last := len(seen) - 1; w.Code != http.StatusOK || last < 0 || seen[last].Forced != (kind == "forced") {
			t.Errorf("%s: a %s run: %d %s; the work saw %+v", clock, kind, w.Code, w.Body, seen)
		}
	}

	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
