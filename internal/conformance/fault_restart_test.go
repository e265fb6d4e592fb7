package conformance_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
)

// TestPostgresKeepsClaimsOverARestart kills the server while the work runs and starts it again.
func TestPostgresKeepsClaimsOverARestart(t *testing.T) {
	t.Parallel()

	server := engines.OwnPostgres(t)
	if err := postgresclaim.Init(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}

	store, err := postgresclaim.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = store.Close() })

	p := proposal(10 * time.Minute)

	got := claimer(store).Do(t.Context(), p, func(context.Context) error {
		server.Restart(t)

		return nil
	})
	if got.Outcome != claim.OutcomeExecuted || got.Attempt != 1 {
		t.Errorf("over a restart: %s by attempt %d (%v), want executed by the first", got.Outcome, got.Attempt, got.Err)
	}

	if got := claimer(store).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeDuplicate {
		t.Errorf("afterwards: %s (%v), want duplicate", got.Outcome, got.Err)
	}
}

// TestPostgresComesBackWhileAClaimIsMade: the server is away when the delivery comes, and back before its deadline.
func TestPostgresComesBackWhileAClaimIsMade(t *testing.T) {
	t.Parallel()

	server := engines.OwnPostgres(t)
	if err := postgresclaim.Init(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}

	store, err := postgresclaim.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = store.Close() })
	server.Kill()

	back := make(chan struct{})

	go func() {
		defer close(back)
		server.Restart(t)
	}()

	c := claim.New(store, claim.WithStoreTimeout(2*time.Minute))

	got := c.Do(t.Context(), proposal(10*time.Minute), func(context.Context) error { return nil })
	if got.Outcome != claim.OutcomeExecuted || got.Attempt != 1 {
		t.Errorf("%s by attempt %d (%v), want executed by the first", got.Outcome, got.Attempt, got.Err)
	}

	<-back
}

// TestAStoreThatForgetsIsToldOf: the emulator keeps nothing over a restart. Whoever holds a claim in it finds that out, and neither
// the end nor the renewal of the claim makes a new record of it.
func TestAStoreThatForgetsIsToldOf(t *testing.T) {
	t.Parallel()

	server := engines.OwnFirestore(t)

	store, err := firestoreclaim.Open(t.Context(), "firestore://local-project/(default)/"+tableName(),
		firestoreclaim.WithClientOptions(option.WithGRPCConn(grpcConn(t, server.Addr(), &wire{}))))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = store.Close() })

	got := claimer(store).Do(t.Context(), proposal(10*time.Minute), func(context.Context) error {
		server.Restart(t)

		return nil
	})
	if got.Outcome != claim.OutcomeLost || got.Record.Status != "" {
		t.Errorf("over a restart: %s (%v), found %+v; want lost, and nothing there", got.Outcome, got.Err, got.Record)
	}
}
