package conformance_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
)

// spannerOptions speak to the emulator, each client over a connection of its own.
func spannerOptions(t *testing.T, calls *atomic.Int64) []option.ClientOption {
	t.Helper()

	return emulators.Spanner(t, engines.Spanner(t), calls)
}

// spannerDatabase makes a database of the test's own, with a table of claims and one of effects, and returns its name.
func spannerDatabase(t *testing.T) string {
	t.Helper()

	return makeSpannerDatabase(t, engines.Spanner(t), emulators.Instance())
}

// makeSpannerDatabase is spannerDatabase in an instance of that name at an emulator of that address.
func makeSpannerDatabase(t *testing.T, addr, name string) string {
	t.Helper()

	made := emulators.SpannerDatabase(t, addr, name,
		"CREATE TABLE effects (id STRING(MAX) DEFAULT (GENERATE_UUID()), name STRING(MAX)) PRIMARY KEY (id)")

	opts := spannerclaim.WithClientOptions(emulators.Spanner(t, addr, new(atomic.Int64))...)
	if err := spannerclaim.Init(t.Context(), "spanner://"+made, opts); err != nil {
		t.Fatal(err)
	}

	return made
}

// openSpanner opens a store and counts its calls, without those of Open.
func openSpanner(t *testing.T, database string) (*spannerclaim.Store, *atomic.Int64) {
	t.Helper()

	calls := new(atomic.Int64)

	s, err := spannerclaim.Open(t.Context(), "spanner://"+database, spannerclaim.WithClientOptions(spannerOptions(t, calls)...))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })
	calls.Store(0)

	return s, calls
}

func spannerClient(t *testing.T, database string) *spanner.Client {
	t.Helper()

	return spannerClientOf(t, engines.Spanner(t), database)
}

func spannerClientOf(t *testing.T, addr, database string) *spanner.Client {
	t.Helper()

	client, err := spanner.NewClientWithConfig(t.Context(), database, spanner.ClientConfig{DisableNativeMetrics: true},
		emulators.Spanner(t, addr, new(atomic.Int64))...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(client.Close)

	return client
}

// spannerSubject is Spanner as the suite takes it.
func spannerSubject(t *testing.T) subject {
	t.Helper()

	database := spannerDatabase(t)
	admin := spannerClient(t, database)

	open := func(t *testing.T) claim.Store {
		t.Helper()

		s, _ := openSpanner(t, database)

		return s
	}

	del := func(ctx context.Context, id string) error {
		_, err := admin.Apply(ctx, []*spanner.Mutation{spanner.Delete("scheduler_runs", spanner.Key{id})})

		return err
	}

	return subject{open: open, del: del, patience: time.Second}
}

func TestSpannerRoundTrips(t *testing.T) {
	t.Parallel()

	s, calls := openSpanner(t, spannerDatabase(t))

	// With CompleteTx: claim, effect, completion, commit.
	testRoundTrips(t, s, calls, roundTrips{fresh: 3, freshTx: 4, duplicate: 2, takeover: 6, renewal: 2}, func(ctx context.Context) error {
		return spannerclaim.CompleteTx(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
			_, err := tx.Update(ctx, spanner.NewStatement("INSERT INTO effects (name) VALUES ('effect')"))

			return err
		})
	})
}

func TestSpannerCompletesInTheTransactionOfTheEffect(t *testing.T) {
	t.Parallel()

	database := spannerDatabase(t)
	s, _ := openSpanner(t, database)
	client := spannerClient(t, database)

	testCompleteTx(t, transactional{
		store: s,
		completeTx: func(ctx context.Context, name string, after func() error) error {
			return spannerclaim.CompleteTx(ctx, func(_ context.Context, tx *spanner.ReadWriteTransaction) error {
				if err := tx.BufferWrite([]*spanner.Mutation{spanner.Insert("effects", []string{"id", "name"}, []any{tableName(), name})}); err != nil {
					return err
				}

				return after()
			})
		},
		rows: func(t *testing.T, name string) int {
			t.Helper()

			var n int64

			if err := client.Single().Query(t.Context(), spanner.Statement{
				SQL: "SELECT count(*) FROM effects WHERE name = @name", Params: map[string]any{"name": name},
			}).Do(func(r *spanner.Row) error { return r.Columns(&n) }); err != nil {
				t.Fatal(err)
			}

			return int(n)
		},
	})
}

func TestSpannerSaysHowToMakeAMissingTable(t *testing.T) {
	t.Parallel()

	url := "spanner://" + spannerDatabase(t) + "?table=elsewhere"

	_, err := spannerclaim.Open(t.Context(), url, spannerclaim.WithClientOptions(spannerOptions(t, new(atomic.Int64))...))
	if err == nil || !strings.Contains(err.Error(), "the table elsewhere is missing, create it with `terraform-provider-idempotent runs init`") {
		t.Errorf("got %v", err)
	}
}

func TestSpannerInitIsRepeatable(t *testing.T) {
	t.Parallel()

	url := "spanner://" + spannerDatabase(t)
	if err := spannerclaim.Init(t.Context(), url, spannerclaim.WithClientOptions(spannerOptions(t, new(atomic.Int64))...)); err != nil {
		t.Error(err)
	}
}
