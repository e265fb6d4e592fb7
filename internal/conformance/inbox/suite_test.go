package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// suite is an inbox of its own for one case.
type suite struct {
	subject

	inbox webhook.Inbox
}

func TestInboxesConform(t *testing.T) {
	t.Parallel()
	for store, start := range subjects() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			for name, test := range cases() {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := start(t)
					test(t, suite{subject: s, inbox: s.open(t)})
				})
			}
		})
	}
}

func cases() map[string]func(*testing.T, suite) {
	return map[string]func(*testing.T, suite){
		"an event is kept as it came":                         keptAsItCame,
		"of concurrent deliveries one stores the event":       oneStores,
		"another body under a used id is told and counted":    anotherBody,
		"a transaction that fails is 503 and stores nothing":  failedTransaction,
		"sources and ids tell events apart":                   separateEvents,
		"due events come oldest first, and once":              dueOnce,
		"a worker completes an event, which then expires":     completed,
		"undone and dead events never expire":                 neverExpire,
		"a failed event waits longer after each attempt":      backsOff,
		"a dead event is listed and requeued":                 requeued,
		"the event of a dead worker is taken over":            takenOver,
		"a drain keeps to its bounds":                         drainBounded,
		"workers side by side complete each event once":       sideBySide,
		"an event that came late is superseded":               superseded,
		"events of one entity at once end with its latest":    latestWins,
		"a part is added once":                                partOnce,
		"a replay after completion is the same event":         replayed,
		"a shutdown gives events back at once":                givenBack,
		"purging takes what was completed and expired, alone": purged,
	}
}

// entry is an event of one source.
func entry(id, body string) webhook.Entry {
	return webhook.NewEntry("acme", id, "application/json", []byte(body))
}

func (s suite) accept(t *testing.T, e webhook.Entry) webhook.Receipt {
	t.Helper()
	receipt, err := s.inbox.Accept(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func (s suite) get(t *testing.T, id string) claim.Snapshot {
	t.Helper()
	found, err := s.inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s suite) load(t *testing.T, id string) webhook.Event {
	t.Helper()
	e, err := s.inbox.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// worker is one over a client of its own. Its leases are long: no slow machine ends one.
func (s suite) worker(t *testing.T, work webhook.Work, change ...func(*webhook.WorkerConfig)) *webhook.Worker {
	t.Helper()
	cfg := webhook.WorkerConfig{
		Inbox: s.open(t), Work: work, Poll: 10 * time.Millisecond, Backoff: webhook.Backoff{Min: time.Millisecond, Max: time.Hour},
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	w, err := webhook.NewWorker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func drain(t *testing.T, w *webhook.Worker) webhook.Drained {
	t.Helper()
	drained, err := w.Drain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return drained
}

// drainUntil drains until the condition holds: events that were given back may be due only a little later.
func drainUntil(t *testing.T, w *webhook.Worker, what string, done func() bool) {
	t.Helper()
	eventually(t, what, func() bool {
		drain(t, w)
		return done()
	})
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	const patience = 2 * time.Minute // a machine that is very busy is slow, not wrong
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after %v: %s", patience, what)
		}
	}
}

func (s suite) receiver(t *testing.T, source string, change ...func(*webhook.ReceiverConfig)) *webhook.Receiver {
	t.Helper()
	v, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := webhook.ReceiverConfig{Inbox: s.inbox, Source: source, Verifier: v, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&cfg)
	}
	r, err := webhook.NewReceiver(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// deliver sends an event as the reference library signs it, and returns status and outcome.
func deliver(t *testing.T, h http.Handler, id, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, id, body))
	return w.Code, w.Header().Get("Idempotent-Run")
}

func request(t testing.TB, id, body string) *http.Request {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/acme", bytes.NewReader([]byte(body)))
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// missing reports whether there is nothing under the id.
func (s suite) missing(t *testing.T, id string) bool {
	t.Helper()
	_, err := s.inbox.Load(t.Context(), id)
	if err != nil && !errors.Is(err, claim.ErrNotFound) {
		t.Fatal(err)
	}
	_, getErr := s.inbox.Get(t.Context(), id)
	if getErr != nil && !errors.Is(getErr, claim.ErrNotFound) {
		t.Fatal(getErr)
	}
	return err != nil && getErr != nil
}

// nothing is a work that does nothing.
func nothing(context.Context, webhook.Event) error { return nil }
