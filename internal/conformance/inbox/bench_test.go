package inbox_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

// benchBody is 1 KB of JSON.
func benchBody() string {
	return `{"type":"contact.updated","data":"` + strings.Repeat("x", 1000) + `"}`
}

// taking is an inbox that takes everything for new and keeps nothing, so that what is measured is the receiver.
type taking struct{ webhook.Inbox }

func (taking) Accept(context.Context, webhook.Entry) (webhook.Receipt, error) {
	return webhook.Receipt{}, nil
}

// sink is a response writer that costs next to nothing.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkVerify is the verification alone, of a delivery with one signature.
func BenchmarkVerify(b *testing.B) {
	body := []byte(benchBody())
	r := request(b, "msg_p5jXN8AQM9LWM0D4loKWxJek", string(body))
	b.Run("webhook", func(b *testing.B) {
		v, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{secret}})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.Verify(r.Header, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("standard-webhooks", func(b *testing.B) {
		v, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := v.Verify(body, r.Header); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAccept is a delivery that is read, verified and stored: by the receiver over an inbox that keeps nothing, by a handler that
// does the same with the reference library, and by the receiver over an inbox in memory that has the event already.
func BenchmarkAccept(b *testing.B) {
	v, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{secret}})
	if err != nil {
		b.Fatal(err)
	}
	receiver := func(inbox webhook.Inbox) http.Handler {
		h, err := webhook.NewReceiver(webhook.ReceiverConfig{Inbox: inbox, Source: "acme", Verifier: v})
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	theirs, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		b.Fatal(err)
	}
	inbox := taking{meminbox.New()}
	for name, handler := range map[string]http.Handler{
		"webhook": receiver(inbox),
		"standard-webhooks": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhook.DefaultMaxBody))
			if err == nil {
				err = theirs.Verify(body, r.Header)
			}
			if err == nil {
				_, err = inbox.Accept(r.Context(), webhook.NewEntry("acme", r.Header.Get("webhook-id"), r.Header.Get("Content-Type"), body))
			}
			if err != nil {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.WriteHeader(http.StatusOK)
		}),
		"webhook, duplicate in memory": receiver(meminbox.New()),
	} {
		b.Run(name, func(b *testing.B) { benchHandler(b, handler) })
	}
}

func benchHandler(b *testing.B, handler http.Handler) {
	b.Helper()
	body := []byte(benchBody())
	r := request(b, "msg_p5jXN8AQM9LWM0D4loKWxJek", string(body))
	reader := bytes.NewReader(body)
	r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
	w := &sink{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		clear(w.header)
		handler.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("answer %d", w.status)
		}
	}
}
