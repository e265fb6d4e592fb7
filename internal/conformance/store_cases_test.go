package conformance_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// errEffect is what an effect that gives up returns.
var errEffect = errors.New("effect gave up")

// roundTrips is what the cases of a store cost in calls to the server.
type roundTrips struct{ fresh, freshTx, duplicate, takeover, renewal int64 }

// tableName is a table or collection that no other test uses.
func tableName() string { return "t_" + strings.ToLower(rand.Text()[:12]) }

func claimer(s claim.Store) *claim.Claimer {
	// Real engines on a busy machine: the deadline is for a store that hangs, not for one that is slow.
	return claim.New(s, claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(10*time.Second))
}

func proposal(lease time.Duration) claim.Proposal {
	name := "keys/" + rand.Text()

	return claim.Proposal{ID: run.ID(name), Run: name, Lease: lease, Deadline: lease, Runtime: lease, Retention: time.Hour}
}

// testRoundTrips runs each case and compares what it cost. calls is counted by the store's client; completeTx is the store's
// CompleteTx with an effect of one write that reads nothing, nil where it has none.
func testRoundTrips(t *testing.T, s claim.Store, calls *atomic.Int64, want roundTrips, completeTx func(context.Context) error) {
	t.Helper()

	c := claimer(s)
	cost := func(do func()) int64 {
		before := calls.Load()

		do()

		return calls.Load() - before
	}
	expect := func(what string, outcome claim.Outcome, p claim.Proposal, work func(context.Context) error) {
		t.Helper()

		if got := c.Do(t.Context(), p, work); got.Outcome != outcome {
			t.Fatalf("%s: %s (%v), want %s", what, got.Outcome, got.Err, outcome)
		}
	}
	nothing := func(context.Context) error { return nil }

	var got roundTrips

	p := proposal(time.Minute)
	got.fresh = cost(func() { expect("fresh run", claim.OutcomeExecuted, p, nothing) })
	got.duplicate = cost(func() { expect("duplicate", claim.OutcomeDuplicate, p, nothing) })

	if completeTx != nil {
		got.freshTx = cost(func() { expect("fresh run with CompleteTx", claim.OutcomeExecuted, proposal(time.Minute), completeTx) })
	}

	dead := proposal(time.Minute)
	abandon(t, s, dead)

	got.takeover = cost(func() { expect("takeover", claim.OutcomeExecuted, dead, nothing) })

	got.renewal = renewalCost(t, s, calls)

	if got != want {
		t.Errorf("round trips\n got %+v\nwant %+v", got, want)
	}

	tabulate(t, s.Caps().Store, got)
}

// tabulate adds what the cases cost to the table that scripts/bench.sh prints, if one is wanted.
func tabulate(t *testing.T, store string, got roundTrips) {
	t.Helper()

	path := os.Getenv("IDEMPOTENT_BENCH")
	if path == "" {
		return
	}

	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		what  string
		trips int64
	}{
		{"claim and finish", got.fresh},
		{"claim, effect and finish in one transaction", got.freshTx},
		{"duplicate", got.duplicate},
		{"takeover and finish", got.takeover},
		{"renewal", got.renewal},
	} {
		if c.trips == 0 { // it has no such case
			continue
		}

		if _, err := fmt.Fprintf(f, "Round trips, asserted\t%s, %s\t%d\t\t\n", store, c.what, c.trips); err != nil {
			t.Error(err)
		}
	}

	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// abandon leaves the claim of an attempt that died; its lease is over when abandon returns.
func abandon(t *testing.T, s claim.Store, p claim.Proposal) {
	t.Helper()

	const lease = time.Millisecond

	_, won, err := s.Insert(t.Context(), p.ID, claim.Record{
		Status: claim.StatusInProgress, AttemptID: rand.Text(), Attempt: 1, Counted: 1, Rev: 1, Lease: lease, Run: p.Run,
		LeaseExpires: time.Now(), ExpireAt: time.Now().Add(time.Hour),
	})
	if err != nil || !won {
		t.Fatal(won, err)
	}

	eventually(t, "the lease to end", func() bool {
		found, err := s.Get(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}

		return found.Now.Sub(found.Written) >= lease
	})
}

// renewalCost is what one swap by the holder costs: a renewal is nothing else.
func renewalCost(t *testing.T, s claim.Store, calls *atomic.Int64) int64 {
	t.Helper()

	r := claim.Record{Status: claim.StatusInProgress, AttemptID: rand.Text(), Attempt: 1, Rev: 1, Lease: time.Minute}

	id := rand.Text()

	mine, won, err := s.Insert(t.Context(), id, r)
	if err != nil || !won {
		t.Fatal(won, err)
	}

	before := calls.Load()
	r.Rev++

	if _, won, err := s.Swap(t.Context(), id, mine.Version, r); err != nil || !won {
		t.Fatal(won, err)
	}

	return calls.Load() - before
}

// transactional is what testCompleteTx needs of a store.
type transactional struct {
	store claim.Store
	// completeTx completes in a transaction that writes one row of that name, then returns what after does.
	completeTx func(ctx context.Context, name string, after func() error) error
	// rows counts the rows of that name.
	rows func(t *testing.T, name string) int
}

// testCompleteTx holds a store's CompleteTx to its promise: the effect is there exactly when the completion is.
func testCompleteTx(t *testing.T, s transactional) {
	t.Helper()

	check := func(name string, p claim.Proposal, outcome claim.Outcome, rows int, work func(context.Context) error) {
		t.Helper()

		got := claimer(s.store).Do(t.Context(), p, work)
		if got.Outcome != outcome {
			t.Errorf("%s: %s (%v), want %s", name, got.Outcome, got.Err, outcome)
		}

		if n := s.rows(t, p.ID); n != rows {
			t.Errorf("%s: %d effects, want %d", name, n, rows)
		}
	}
	none := func() error { return nil }

	p := proposal(time.Minute)
	check("an effect and its completion", p, claim.OutcomeExecuted, 1, func(ctx context.Context) error {
		return s.completeTx(ctx, p.ID, none)
	})
	check("the next delivery", p, claim.OutcomeDuplicate, 1, func(ctx context.Context) error {
		return s.completeTx(ctx, p.ID, none)
	})

	twice := proposal(time.Minute)
	check("completed twice by one attempt", twice, claim.OutcomeExecuted, 1, func(ctx context.Context) error {
		return errors.Join(s.completeTx(ctx, twice.ID, none), s.completeTx(ctx, twice.ID, none))
	})

	failed := proposal(time.Minute)
	check("an effect that gives up", failed, claim.OutcomeReleased, 0, func(ctx context.Context) error {
		return s.completeTx(ctx, failed.ID, func() error { return errEffect })
	})
	check("the delivery after it", failed, claim.OutcomeExecuted, 1, func(ctx context.Context) error {
		return s.completeTx(ctx, failed.ID, none)
	})

	panicked := proposal(time.Minute)
	check("an effect that panics", panicked, claim.OutcomeReleased, 0, func(ctx context.Context) error {
		return s.completeTx(ctx, panicked.ID, func() error { panic("effect") })
	})
	check("the delivery after the panic", panicked, claim.OutcomeExecuted, 1, func(ctx context.Context) error {
		return s.completeTx(ctx, panicked.ID, none)
	})

	late := proposal(time.Minute)
	check("an error after the commit", late, claim.OutcomeExecuted, 1, func(ctx context.Context) error {
		return errors.Join(s.completeTx(ctx, late.ID, none), errEffect)
	})

	testLostBeforeCompleteTx(t, s)
}

// testLostBeforeCompleteTx has another attempt take the run over before the transaction begins.
func testLostBeforeCompleteTx(t *testing.T, s transactional) {
	t.Helper()

	p := proposal(time.Minute)
	got := claimer(s.store).Do(t.Context(), p, func(ctx context.Context) error {
		mine, err := s.store.Get(ctx, p.ID)
		if err != nil {
			return err
		}

		thief := mine.Record
		thief.AttemptID, thief.Attempt, thief.Rev = rand.Text(), thief.Attempt+1, thief.Rev+1

		if _, won, err := s.store.Swap(ctx, p.ID, mine.Version, thief); err != nil || !won {
			return fmt.Errorf("steal the claim: %v, %w", won, err)
		}

		err = s.completeTx(ctx, p.ID, func() error { return nil })
		if !errors.Is(err, claim.ErrLost) {
			t.Errorf("CompleteTx of a lost claim: %v, want ErrLost", err)
		}

		return err
	})

	if got.Outcome != claim.OutcomeLost {
		t.Errorf("a lost claim: %s (%v), want lost", got.Outcome, got.Err)
	}

	if n := s.rows(t, p.ID); n != 0 {
		t.Errorf("a lost claim left %d effects", n)
	}
}

// eventually waits for a condition of the store.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()

	deadline := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}

		time.Sleep(5 * time.Millisecond)
	}
}
