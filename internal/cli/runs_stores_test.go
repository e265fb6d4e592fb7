package cli_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// TestRunsOfEveryStore takes one run through all commands. Its subtests are not parallel: emulators are named by the environment.
func TestRunsOfEveryStore(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db"))
		testRuns(t, url, func(ctx context.Context) (claim.Store, error) { return sqliteclaim.Open(ctx, url) })
	})
	t.Run("postgres", func(t *testing.T) {
		url := engines.OwnPostgres(t).URL()
		testRuns(t, url, func(ctx context.Context) (claim.Store, error) { return postgresclaim.Open(ctx, url) })
	})
	t.Run("redis", func(t *testing.T) {
		url := engines.OwnRedis(t).URL()
		testRuns(t, url, func(ctx context.Context) (claim.Store, error) { return redisclaim.Open(ctx, url) })
	})
	t.Run("firestore", func(t *testing.T) {
		t.Setenv("FIRESTORE_EMULATOR_HOST", engines.OwnFirestore(t).Addr())
		const url = "firestore://acme-prod"
		testRuns(t, url, func(ctx context.Context) (claim.Store, error) { return firestoreclaim.Open(ctx, url) })
	})
	t.Run("spanner", func(t *testing.T) {
		addr := engines.OwnSpanner(t).Addr()
		t.Setenv("SPANNER_EMULATOR_HOST", addr)
		url := "spanner://" + emulators.SpannerDatabase(t, addr, emulators.Instance())
		testRuns(t, url, func(ctx context.Context) (claim.Store, error) { return spannerclaim.Open(ctx, url) })
	})
}

func testRuns(t *testing.T, url string, open func(context.Context) (claim.Store, error)) {
	t.Helper()
	must(t, "runs", "init", "--store", url)
	must(t, "runs", "init", "--store", url) // what is there is left as it is
	store, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	claimer := claim.New(store, claim.WithHolder("host/7"), claim.WithStoreTimeout(20*time.Second))
	proposal := claim.Proposal{ID: run.ID("nightly"), Run: "nightly", Lease: time.Hour, Retention: time.Hour}
	failed := claimer.Do(t.Context(), proposal, func(context.Context) error { return claim.Permanent(errors.New("disk full")) })
	if failed.Outcome != claim.OutcomeFailed {
		t.Fatalf("got %s, %v", failed.Outcome, failed.Err)
	}

	if out := must(t, "runs", "list", "--store", url); !strings.Contains(out, failed.AttemptID) || !strings.Contains(out, "host/7") || !strings.Contains(out, "nightly") {
		t.Errorf("listed:\n%s", out)
	}
	if out := must(t, "runs", "show", "nightly", "--store", url); !strings.Contains(out, "disk full") {
		t.Errorf("shown:\n%s", out)
	}
	must(t, "runs", "release", "nightly", "--attempt", failed.AttemptID, "--store", url)
	released := claimer.Do(t.Context(), proposal, func(context.Context) error { return claim.Permanent(errors.New("disk full again")) })
	if released.Outcome != claim.OutcomeFailed || released.Attempt != 2 {
		t.Fatalf("after the release: %s, attempt %d, %v", released.Outcome, released.Attempt, released.Err)
	}
	if _, err := command(t, "runs", "complete", "nightly", "--attempt", failed.AttemptID, "--store", url); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("complete of the first attempt: %v", err)
	}
	must(t, "runs", "complete", "nightly", "--attempt", released.AttemptID, "--store", url)
	if got := claimer.Do(t.Context(), proposal, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeDuplicate {
		t.Errorf("after it was completed: %s, %v", got.Outcome, got.Err)
	}
	if out := must(t, "runs", "list", "--status", "completed", "--store", url); !strings.Contains(out, "nightly") {
		t.Errorf("listed:\n%s", out)
	}
	must(t, "runs", "purge", "--store", url)
}
