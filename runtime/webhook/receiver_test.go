package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

// receiver is one over an inbox in memory, unless change sets another.
func receiver(t *testing.T, change ...func(*webhook.ReceiverConfig)) *webhook.Receiver {
	t.Helper()
	cfg := webhook.ReceiverConfig{
		Inbox: meminbox.New(), Source: "acme", Verifier: verifier(t, vectorSecret), Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	r, err := webhook.NewReceiver(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// delivery is a signed request.
func delivery(t *testing.T, id, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/acme", strings.NewReader(body))
	at := strconv.Itoa(vectorTime)
	r.Header = header(id, at, signed(vectorSecret, id, at, body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func answer(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestDeliveriesAreAnsweredByWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	notified := 0
	rc := receiver(t, func(cfg *webhook.ReceiverConfig) {
		cfg.Inbox, cfg.MaxBody, cfg.Notify = inbox, 100, func() { notified++ }
	})
	strict := receiver(t, func(cfg *webhook.ReceiverConfig) {
		cfg.Inbox, cfg.ConflictStatus = inbox, http.StatusUnprocessableEntity
	})
	chunked := func(body io.Reader) *http.Request {
		r := delivery(t, "msg_2", "chunked")
		r.Body, r.ContentLength = io.NopCloser(body), -1
		return r
	}
	with := func(change func(*http.Request)) *http.Request {
		r := delivery(t, "msg_3", "x")
		change(r)
		return r
	}
	for _, step := range []struct {
		name    string
		handler http.Handler
		request *http.Request
		status  int
		outcome string
		says    string
	}{
		{"a new event", rc, delivery(t, "msg_1", "one"), 200, webhook.OutcomeAccepted, ""},
		{"the same again", rc, delivery(t, "msg_1", "one"), 200, webhook.OutcomeDuplicate, ""},
		{"its id with another body", rc, delivery(t, "msg_1", "two"), 200, webhook.OutcomeDuplicate, ""},
		{"its id with another body, refused", strict, delivery(t, "msg_1", "two"), 422, webhook.OutcomeConflict, "another body"},
		{"a body whose length is not told", rc, chunked(strings.NewReader("chunked")), 200, webhook.OutcomeAccepted, ""},
		{"a body of the greatest length", rc, delivery(t, "msg_4", strings.Repeat("x", 100)), 200, webhook.OutcomeAccepted, ""},
		{"a body that is too large", rc, delivery(t, "msg_5", strings.Repeat("x", 101)), 413, "", "100 bytes"},
		{"one that does not tell", rc, chunked(strings.NewReader(strings.Repeat("x", 101))), 413, "", "100 bytes"},
		{"a body that breaks off", rc, chunked(iotest.ErrReader(errors.New("reset"))), 400, "", "read to its end"},
		{"no id", rc, with(func(r *http.Request) { r.Header.Del("Webhook-Id") }), 400, "", "Webhook-Id is missing"},
		{"a forged signature", rc, with(func(r *http.Request) { r.Header.Set("Webhook-Signature", otherSignature) }), 401, "", "no matching"},
		{"an old timestamp", rc, with(func(r *http.Request) { r.Header.Set("Webhook-Timestamp", "1600000000") }), 401, "", "out of tolerance"},
		{"a GET", rc, with(func(r *http.Request) { r.Method = http.MethodGet }), 405, "", "POST"},
	} {
		w := answer(step.handler, step.request)
		if w.Code != step.status || w.Header().Get("Idempotent-Run") != step.outcome || !strings.Contains(w.Body.String(), step.says) {
			t.Errorf("%s: %d %q %q, want %d %q", step.name, w.Code, w.Header().Get("Idempotent-Run"), w.Body, step.status, step.outcome)
		}
		if step.status == 200 && w.Body.Len() != 0 {
			t.Errorf("%s: the answer has a body: %q", step.name, w.Body)
		}
	}
	if notified != 3 {
		t.Errorf("notified %d times, want 3: of new events", notified)
	}
	stored := 0
	for found, err := range inbox.List(t.Context(), claim.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if stored++; found.Status != claim.StatusReleased {
			t.Errorf("stored as %s", found.Status)
		}
	}
	if stored != 3 {
		t.Errorf("%d events stored, want 3", stored)
	}
}

func TestAnEventThatIsNotStoredIs503(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	rc := receiver(t, func(cfg *webhook.ReceiverConfig) { cfg.Inbox = inbox })
	failures := 1
	var failed error
	inbox.Before(func(context.Context, memclaim.Verb, string) error {
		if failures--; failures >= 0 {
			return failed
		}
		return nil
	})
	failed = errors.New("connection refused")
	if w := answer(rc, delivery(t, "msg_1", "one")); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "refused") {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	failures, failed = 2, claim.ErrConflict
	if w := answer(rc, delivery(t, "msg_1", "one")); w.Code != http.StatusOK || w.Header().Get("Idempotent-Run") != webhook.OutcomeAccepted {
		t.Errorf("after writes that only met others: %d %q", w.Code, w.Body)
	}
}

func TestASenderThatHangsUpDoesNotStopTheStoring(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	ctx, hangUp := context.WithCancel(t.Context())
	inbox.Before(func(ctx context.Context, _ memclaim.Verb, _ string) error {
		hangUp()
		return ctx.Err()
	})
	rc := receiver(t, func(cfg *webhook.ReceiverConfig) { cfg.Inbox = inbox })
	if w := answer(rc, delivery(t, "msg_1", "one").WithContext(ctx)); w.Code != http.StatusOK {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestRefusedAndConflictingDeliveriesAreLoggedWithoutTheirBody(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	rc := receiver(t, func(cfg *webhook.ReceiverConfig) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	answer(rc, delivery(t, "msg_1", "confidential"))
	answer(rc, delivery(t, "msg_1", "confidential too"))
	forged := delivery(t, "msg_1", "confidential")
	forged.Header.Set("Webhook-Signature", otherSignature)
	answer(rc, forged)
	for _, want := range []string{"another body", "webhook_id=msg_1", "webhook refused", "source=acme"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "confidential") || strings.Contains(log.String(), "Ceo5qEr07") {
		t.Errorf("the log tells a body or a signature:\n%s", log.String())
	}
}

func TestAReceiverThatCannotBeRightIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*webhook.ReceiverConfig){
		"Inbox is missing":    func(cfg *webhook.ReceiverConfig) { cfg.Inbox = nil },
		"Source is \"\"":      func(cfg *webhook.ReceiverConfig) { cfg.Source = "" },
		"Source is \"xxxx":    func(cfg *webhook.ReceiverConfig) { cfg.Source = strings.Repeat("x", 201) },
		"Source is \"a\\n":    func(cfg *webhook.ReceiverConfig) { cfg.Source = "a\nb" },
		"Verifier is missing": func(cfg *webhook.ReceiverConfig) { cfg.Verifier = nil },
		"MaxBody and Timeout": func(cfg *webhook.ReceiverConfig) { cfg.MaxBody = -1 },
		"the inbox takes":     func(cfg *webhook.ReceiverConfig) { cfg.MaxBody = meminbox.MaxPayload + 1 },
		"ConflictStatus is 4": func(cfg *webhook.ReceiverConfig) { cfg.ConflictStatus = 400 },
		"not be negative":     func(cfg *webhook.ReceiverConfig) { cfg.RetryHorizon = -1 },
		"set at least 73h0m0s": func(cfg *webhook.ReceiverConfig) {
			cfg.RetryHorizon, cfg.Retention = 72*time.Hour, 72*time.Hour
		},
		"set at least 77h0m0s": func(cfg *webhook.ReceiverConfig) { cfg.Retention = 24 * time.Hour },
	} {
		cfg := webhook.ReceiverConfig{Inbox: meminbox.New(), Source: "acme", Verifier: verifier(t, vectorSecret)}
		change(&cfg)
		if _, err := webhook.NewReceiver(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q: %v", want, err)
		}
	}
}

func TestEntriesAreNamedBySourceAndID(t *testing.T) {
	t.Parallel()
	e := webhook.NewEntry("acme", "msg_1", "text/plain", []byte("x"))
	if e.ID != webhook.NewEntry("acme", "msg_1", "", nil).ID || len(e.ID) != 64 || !strings.HasPrefix(e.Name, "webhooks/") {
		t.Errorf("id %s, name %s", e.ID, e.Name)
	}
	for _, other := range []webhook.Entry{webhook.NewEntry("acm", "emsg_1", "", nil), webhook.NewEntry("msg_1", "acme", "", nil)} {
		if other.ID == e.ID {
			t.Errorf("%+v has the id of another event", other)
		}
	}
	for _, odd := range []string{strings.Repeat("x", 256), "text/\xff"} {
		if got := webhook.NewEntry("acme", "msg_1", odd, nil).ContentType; got != "" {
			t.Errorf("content type %q", got)
		}
	}
}

// patient is a writer that notes how long the body is waited for.
type patient struct {
	*httptest.ResponseRecorder

	deadlines []time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error {
	p.deadlines = append(p.deadlines, t)
	return nil
}

func TestASenderIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	receiver(t).ServeHTTP(w, delivery(t, "msg_1", "one"))
	if w.Code != http.StatusOK || len(w.deadlines) != 2 || w.deadlines[0].IsZero() || !w.deadlines[1].IsZero() {
		t.Errorf("%d, the body was waited for until %v, want one time and then none", w.Code, w.deadlines)
	}
}
