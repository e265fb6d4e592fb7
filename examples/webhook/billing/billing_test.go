package billing_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/idempotent-jobs/terraform-provider-idempotent/examples/webhook/billing"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/webhooktest"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

func TestEventsInAnyOrderAndAnyNumberGiveOneState(t *testing.T) {
	t.Parallel()
	url := engines.Postgres(t)
	if err := postgresinbox.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	inbox, err := postgresinbox.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(); _ = inbox.Close() })
	if _, err := db.ExecContext(t.Context(), billing.Tables); err != nil {
		t.Fatal(err)
	}
	receiver, worker := service(t, inbox)

	var deliveries []*http.Request
	const n = 20
	for i := range n {
		for range 3 {
			deliveries = append(deliveries,
				webhooktest.Request(fmt.Sprintf("state-%d", i), fmt.Sprintf(
					`{"type": "subscription.updated", "timestamp": "2026-01-01T03:00:%02dZ", "data": {"subscription": "s", "plan": "plan-%d"}}`, i, i)),
				webhooktest.Request(fmt.Sprintf("part-%d", i), fmt.Sprintf(
					`{"type": "usage.recorded", "timestamp": "2026-01-01T03:00:%02dZ", "data": {"subscription": "s", "units": %d}}`, i, i)))
		}
	}
	rand.Shuffle(len(deliveries), func(i, j int) { deliveries[i], deliveries[j] = deliveries[j], deliveries[i] })
	for _, delivery := range deliveries {
		answer := httptest.NewRecorder()
		if receiver.ServeHTTP(answer, delivery); answer.Code != http.StatusOK {
			t.Fatalf("answered %d %s", answer.Code, answer.Body)
		}
		if rand.N(4) == 0 { // the worker runs beside the deliveries
			drain(t, worker)
		}
	}
	for until := time.Now().Add(2 * time.Minute); undone(t, inbox) > 0; drain(t, worker) {
		if time.Now().After(until) {
			t.Fatal("events are still to be done")
		}
		time.Sleep(20 * time.Millisecond) // those that a busy machine had to give back are due again soon
	}

	var plan string
	var units int
	row := db.QueryRowContext(t.Context(), "SELECT plan, units FROM subscriptions JOIN usage ON subscription = id WHERE id = 's'")
	if err := row.Scan(&plan, &units); err != nil {
		t.Fatal(err)
	}
	if want := n * (n - 1) / 2; plan != fmt.Sprintf("plan-%d", n-1) || units != want {
		t.Errorf("%s and %d units, want the last plan and %d units", plan, units, want)
	}
	for dead, err := range webhook.Dead(t.Context(), inbox) {
		t.Errorf("%s is dead: %s (%v)", dead.WebhookID, dead.LastError, err)
	}
}

// undone counts the events that are not done yet.
func undone(t *testing.T, inbox webhook.Inbox) (n int) {
	t.Helper()
	for _, err := range inbox.List(t.Context(), claim.Filter{Statuses: []claim.Status{claim.StatusReleased, claim.StatusInProgress}}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func drain(t *testing.T, worker *webhook.Worker) {
	t.Helper()
	if _, err := worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// service is what the generated code makes.
func service(t *testing.T, inbox webhook.Inbox) (*webhook.Receiver, *webhook.Worker) {
	t.Helper()
	verifier, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{webhooktest.Secret}})
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig{Inbox: inbox, Source: "billing/production", Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	worker, err := webhook.NewWorker(webhook.WorkerConfig{
		Inbox: inbox, MaxAttempts: -1, Backoff: webhook.Backoff{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond},
		Timeout: 5 * time.Second, Lease: 6 * time.Second, ClaimOptions: []claim.Option{claim.WithStoreTimeout(5 * time.Second)},
		Work: func(ctx context.Context, e webhook.Event) error {
			if strings.HasPrefix(e.WebhookID, "part-") {
				return billing.UsageRecorded(ctx, e)
			}
			return billing.SubscriptionUpdated(ctx, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return receiver, worker
}
