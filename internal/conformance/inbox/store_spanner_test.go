package inbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/spanner"
	database "cloud.google.com/go/spanner/admin/database/apiv1"
	databasepb "cloud.google.com/go/spanner/admin/database/apiv1/databasepb"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/spannerinbox"
)

// spannerServer is what a test has of the emulator: each client has a connection of its own.
func spannerServer(t *testing.T, calls *atomic.Int64) []option.ClientOption {
	t.Helper()

	return emulators.Spanner(t, engines.Spanner(t), calls)
}

// spannerDatabase makes a database of the test's own, with an inbox and a table of effects, and returns its name.
func spannerDatabase(t *testing.T) string {
	t.Helper()

	made := emulators.SpannerDatabase(t, engines.Spanner(t), emulators.Instance(),
		"CREATE TABLE effects (id STRING(MAX) DEFAULT (GENERATE_UUID()), name STRING(MAX)) PRIMARY KEY (id)")

	if err := spannerinbox.Init(t.Context(), "spanner://"+made, spannerinbox.WithClientOptions(spannerServer(t, new(atomic.Int64))...)); err != nil {
		t.Fatal(err)
	}

	return made
}

// openSpanner opens an inbox and counts its calls, without those of Open.
func openSpanner(t *testing.T, database string) (*spannerinbox.Store, *atomic.Int64) {
	t.Helper()

	calls := new(atomic.Int64)

	s, err := spannerinbox.Open(t.Context(), "spanner://"+database, spannerinbox.WithClientOptions(spannerServer(t, calls)...))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })
	calls.Store(0)

	return s, calls
}

// oneAtATime is a client of the emulator, which knows one transaction of a client at a time: a second one ends the first.
type oneAtATime struct {
	*spannerinbox.Store

	turn chan struct{}
}

func (s oneAtATime) Unwrap() claim.Store { return s.Store }

// take waits for the turn and returns what gives it back.
func (s oneAtATime) take(ctx context.Context) (func(), error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s oneAtATime) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	done, err := s.take(ctx)
	if err != nil {
		return claim.Snapshot{}, false, err
	}
	defer done()

	return s.Store.Swap(ctx, id, old, r)
}

func (s oneAtATime) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	done, err := s.take(ctx)
	if err != nil {
		return webhook.Receipt{}, err
	}
	defer done()

	return s.Store.Accept(ctx, e)
}

func (s oneAtATime) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	done, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	return s.Store.Due(ctx, limit, hold)
}

func spannerSubject(t *testing.T) subject {
	t.Helper()

	return spannerSubjectIn(t, spannerDatabase(t))
}

func spannerSubjectIn(t *testing.T, name string) subject {
	t.Helper()

	client, err := spanner.NewClientWithConfig(t.Context(), name, spanner.ClientConfig{DisableNativeMetrics: true},
		spannerServer(t, new(atomic.Int64))...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(client.Close)

	return subject{
		open: func(t *testing.T) webhook.Inbox {
			t.Helper()

			s, _ := openSpanner(t, name)

			return oneAtATime{Store: s, turn: make(chan struct{}, 1)}
		},
		patience: time.Second, holds: true, counts: true,
		apply: func(ctx context.Context, name string, g guard) error {
			inbox, err := webhook.InboxOf[oneAtATime](ctx)
			if err != nil {
				return err
			}

			done, err := inbox.take(ctx)
			if err != nil {
				return err
			}
			defer done()

			return spannerclaim.CompleteTx(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
				err := g.allowed(
					func(entity string, at time.Time, id string) (bool, error) {
						return spannerinbox.Later(ctx, tx, entity, at, id)
					},
					func(entity, id string) (bool, error) { return spannerinbox.Once(ctx, tx, entity, id) })
				if err == nil {
					_, err = tx.Update(ctx, spanner.Statement{
						SQL: "INSERT INTO effects (name) VALUES (@name)", Params: map[string]any{"name": name},
					})
				}

				if err == nil && name == unwritable {
					err = errNotNow
				}

				return err
			})
		},
		effects: func(t *testing.T, name string) int {
			t.Helper()

			return spannerCount(t, client, "SELECT count(*) FROM effects WHERE name = @name", name)
		},
		breakSource: func(t *testing.T, source string) {
			t.Helper()

			spannerChange(t, name, "ALTER TABLE "+webhook.DefaultTable+" ADD CONSTRAINT broken CHECK (source != '"+source+"')")
		},
	}
}

func spannerCount(t *testing.T, client *spanner.Client, query, name string) int {
	t.Helper()

	var n int64

	if err := client.Single().Query(t.Context(), spanner.Statement{SQL: query, Params: map[string]any{"name": name}}).Do(func(r *spanner.Row) error {
		return r.Columns(&n)
	}); err != nil {
		t.Fatal(err)
	}

	return int(n)
}

// spannerChange changes the schema.
func spannerChange(t *testing.T, name, statement string) {
	t.Helper()

	databases, err := database.NewDatabaseAdminClient(t.Context(), spannerServer(t, new(atomic.Int64))...)
	if err != nil {
		t.Fatal(err)
	}

	op, err := databases.UpdateDatabaseDdl(t.Context(), &databasepb.UpdateDatabaseDdlRequest{Database: name, Statements: []string{statement}})
	if err == nil {
		err = op.Wait(t.Context())
	}

	if err != nil {
		t.Fatal(err)
	}
}

func TestSpannerInboxRoundTrips(t *testing.T) {
	t.Parallel()

	s, calls := openSpanner(t, spannerDatabase(t))

	testRoundTrips(t, s, calls, roundTrips{accepted: 2, duplicate: 3, conflict: 4, found: 3, idle: 1})
}

// The index holds what is undone, and nothing of what is done.
func TestSpannerIndexesUndoneEventsAlone(t *testing.T) {
	t.Parallel()

	name := spannerDatabase(t)
	inbox, _ := openSpanner(t, name)
	s := suite{subject{open: func(*testing.T) webhook.Inbox { return inbox }}, inbox}
	ids := []string{"done", "dead", "waits"}

	for _, id := range ids {
		s.accept(t, entry(id, `{}`))
	}

	indexed := func(id string) int {
		return spannerCount(t, inbox.Client(), "SELECT count(*) FROM webhook_inbox WHERE due_at IS NOT NULL AND shard BETWEEN 0 AND 15 AND webhook_id = @name", id)
	}
	for _, id := range ids {
		if indexed(id) != 1 {
			t.Errorf("%s is not indexed", id)
		}
	}

	drain(t, s.worker(t, func(_ context.Context, e webhook.Event) error {
		return map[string]error{"dead": claim.Permanent(errNotNow), "waits": errNotNow}[e.WebhookID]
	}, func(cfg *webhook.WorkerConfig) {
		cfg.Concurrency, cfg.Backoff = 1, webhook.Backoff{Min: time.Hour, Max: time.Hour}
	}))

	for id, want := range map[string]int{"done": 0, "dead": 0, "waits": 1} {
		if got := indexed(id); got != want {
			t.Errorf("%s is indexed %d times, want %d", id, got, want)
		}
	}
}

// Workers that search at once share what is due.
func TestSpannerSearchesDoNotMeet(t *testing.T) {
	t.Parallel()

	const events, clients = 12, 3

	name := spannerDatabase(t)
	first, _ := openSpanner(t, name)

	for range events {
		if _, err := first.Accept(t.Context(), entry("msg_"+tableName(), `{}`)); err != nil {
			t.Fatal(err)
		}
	}

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		found = map[string]int{}
	)

	for range clients {
		s, _ := openSpanner(t, name)

		wg.Go(func() {
			for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
				got, err := s.Due(t.Context(), 2, time.Hour)
				if err != nil && !errors.Is(err, claim.ErrConflict) {
					t.Error(err)

					return
				}

				mu.Lock()
				for _, e := range got {
					found[e.ID]++
				}

				done := len(found) == events
				mu.Unlock()

				if done {
					return
				}
			}

			t.Error("still not all found after 30 s")
		})
	}

	wg.Wait()

	for id, n := range found {
		if n != 1 {
			t.Errorf("event %s was found %d times", id, n)
		}
	}
}

func TestSpannerPartsAreForgottenWithTheirEvents(t *testing.T) {
	t.Parallel()

	name := spannerDatabase(t)
	s := spannerSubjectIn(t, name)
	inbox, _ := openSpanner(t, name)

	partsGo(t, suite{subject: s, inbox: inbox}, inbox, func(id string) {
		if _, err := inbox.Client().Apply(t.Context(), []*spanner.Mutation{spanner.Delete(webhook.DefaultTable, spanner.Key{id})}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSpannerSaysHowToMakeAnInbox(t *testing.T) {
	t.Parallel()

	url := "spanner://" + spannerDatabase(t)
	options := func() spannerinbox.Option {
		return spannerinbox.WithClientOptions(spannerServer(t, new(atomic.Int64))...)
	}

	if err := spannerinbox.Init(t.Context(), url, options()); err != nil {
		t.Errorf("a second Init: %v", err)
	}

	if err := spannerclaim.Init(t.Context(), url, spannerclaim.WithClientOptions(spannerServer(t, new(atomic.Int64))...)); err != nil {
		t.Fatal(err)
	}

	for table, want := range map[string]string{
		"elsewhere":      "the table elsewhere is missing, create it with `terraform-provider-idempotent webhooks init`",
		"scheduler_runs": "the table scheduler_runs is not that of an inbox, name another one with ?table=NAME",
	} {
		if _, err := spannerinbox.Open(t.Context(), url+"?table="+table, options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("table %s: %v", table, err)
		}
	}
}
