package idempotencykey_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/idempotency"
	"github.com/valyala/fasthttp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

const (
	benchKey  = "8e03978e-40d5-43dd-bc93-6894a57f9324"
	benchBody = `{"amount":100,"currency":"eur"}`
)

// benchAnswer is what the handler answers: 1 KB of JSON.
func benchAnswer() string { return `{"payment":"` + strings.Repeat("x", 1000) + `"}` }

// sink is a response writer that costs next to nothing.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

func (s *sink) reset() { clear(s.header); s.status, s.bytes = 0, 0 }

// BenchmarkReplay is a repeated request that is answered from a store in memory: fingerprint, claim, decode, send. The handler alone
// is there for the difference.
func BenchmarkReplay(b *testing.B) {
	b.Run("idempotencykey", func(b *testing.B) {
		guard, err := idempotencykey.New(idempotencykey.Config{
			Store: memclaim.New(), Scope: func(*http.Request) (string, error) { return "acme", nil },
		})
		if err != nil {
			b.Fatal(err)
		}
		benchHTTP(b, guard.Handler(benchHandler(benchAnswer())), "true")
	})
	b.Run("handler alone, net/http", func(b *testing.B) { benchHTTP(b, benchHandler(benchAnswer()), "") })
	b.Run("gofiber", func(b *testing.B) {
		app := fiber.New()
		app.Use(idempotency.New())
		benchFiber(b, app, benchAnswer())
	})
	b.Run("handler alone, gofiber", func(b *testing.B) { benchFiber(b, fiber.New(), benchAnswer()) })
}

func benchHandler(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, text)
	}
}

func benchHTTP(b *testing.B, handler http.Handler, replayed string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "/payments?x=1", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", benchKey)
	text := []byte(benchBody)
	reader := bytes.NewReader(text)
	req.ContentLength, req.Body = int64(len(text)), io.NopCloser(reader)
	w := &sink{header: make(http.Header)}
	handler.ServeHTTP(w, req) // the first request
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(text)
		w.reset()
		handler.ServeHTTP(w, req)
	}
	if w.status != http.StatusCreated || w.bytes != len(benchAnswer()) || w.header.Get("Idempotency-Replay") != replayed {
		b.Fatalf("answer %d, %d bytes, %v", w.status, w.bytes, w.header)
	}
}

func benchFiber(b *testing.B, app *fiber.App, text string) {
	b.Helper()
	calls := 0
	app.Post("/payments", func(c fiber.Ctx) error {
		calls++
		c.Set("Content-Type", "application/json")
		return c.Status(http.StatusCreated).SendString(text)
	})
	handler := app.Handler()
	ctx := &fasthttp.RequestCtx{}
	ctx.Request.Header.SetMethod(http.MethodPost)
	ctx.Request.SetRequestURI("/payments?x=1")
	ctx.Request.Header.Set("X-Idempotency-Key", benchKey)
	ctx.Request.SetBodyString(benchBody)
	handler(ctx) // the first request
	b.ReportAllocs()
	for b.Loop() {
		ctx.Response.Reset()
		handler(ctx)
	}
	if ctx.Response.StatusCode() != http.StatusCreated || len(ctx.Response.Body()) != len(text) {
		b.Fatalf("answer %d, %d bytes", ctx.Response.StatusCode(), len(ctx.Response.Body()))
	}
}
