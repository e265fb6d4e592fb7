package conformance_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
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

// TestASpannerThatForgetsIsToldOf restarts an emulator, which keeps nothing, under work that then commits its effect together with its
// completion: the claim is gone, so the effect must not be there either. A run whose record is lost is claimed afresh.
func TestASpannerThatForgetsIsToldOf(t *testing.T) {
	t.Parallel()

	server := engines.OwnSpanner(t)
	name := emulators.Instance()
	database := makeSpannerDatabase(t, server.Addr(), name)
	open := func() claim.Store {
		s, err := spannerclaim.Open(t.Context(), "spanner://"+database,
			spannerclaim.WithClientOptions(emulators.Spanner(t, server.Addr(), new(atomic.Int64))...))
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(func() { _ = s.Close() })

		return s
	}
	p := proposal(10 * time.Minute)

	var completed error

	// The client's session went with the server, and the client does not make another: the end of the attempt is not written in the
	// time that it has, five times this.
	c := claim.New(open(), claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(4*time.Second))

	got := c.Do(t.Context(), p, func(ctx context.Context) error {
		server.Restart(t)
		makeSpannerDatabase(t, server.Addr(), name)

		completed = spannerclaim.CompleteTx(ctx, func(_ context.Context, tx *spanner.ReadWriteTransaction) error {
			return tx.BufferWrite([]*spanner.Mutation{spanner.Insert("effects", []string{"id", "name"}, []any{tableName(), "effect"})})
		})

		return completed
	})
	if completed == nil || got.Outcome == claim.OutcomeExecuted || got.Outcome == claim.OutcomeDuplicate {
		t.Errorf("over a restart: %s (%v), the transaction: %v; want it told that nothing is done", got.Outcome, got.Err, completed)
	}

	var effects int64

	client := spannerClientOf(t, server.Addr(), database)
	if err := client.Single().Query(t.Context(), spanner.NewStatement("SELECT count(*) FROM effects")).Do(func(r *spanner.Row) error {
		return r.Columns(&effects)
	}); err != nil || effects != 0 {
		t.Errorf("%d effects (%v) without a record of their run", effects, err)
	}

	store := open()
	if found, err := store.Get(t.Context(), p.ID); !errors.Is(err, claim.ErrNotFound) {
		t.Errorf("the holder of a lost record made a new one: %+v (%v)", found, err)
	}

	if again := claimer(store).Do(t.Context(), p, func(context.Context) error { return nil }); again.Outcome != claim.OutcomeExecuted || again.Attempt != 1 {
		t.Errorf("the next delivery: %s by attempt %d (%v), want executed by the first", again.Outcome, again.Attempt, again.Err)
	}
}
