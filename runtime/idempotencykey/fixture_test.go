package idempotencykey_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

var errWire = errors.New("connection reset")

// fixture is an API under guard, in fake time.
type fixture struct {
	*testing.T

	store *memclaim.Store
	cfg   idempotencykey.Config
	guard *idempotencykey.Middleware
	calls int
	work  http.HandlerFunc
}

// inBubble runs a test in fake time against a handler that answers 201 and counts its calls.
func inBubble(t *testing.T, change func(*idempotencykey.Config), test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, store: memclaim.New()}
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/payments/1")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"payment":1}`)
		}
		f.cfg = idempotencykey.Config{
			Store: f.store, Logger: slog.New(slog.DiscardHandler),
			Scope: func(r *http.Request) (string, error) { return r.Header.Get("Tenant"), nil },
		}
		if change != nil {
			change(&f.cfg)
		}
		guard, err := idempotencykey.New(f.cfg)
		if err != nil {
			t.Fatal(err)
		}
		f.guard = guard
		test(f)
		if err := guard.Shutdown(t.Context()); err != nil { // what goes on in the background must end, too
			t.Error(err)
		}
	})
}

// ServeHTTP is the guarded handler.
func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.calls++
		f.work(w, r)
	})).ServeHTTP(w, r)
}

const body = `{"amount":100}`

// request is a payment under the key k1; changes are made to it in order.
func request(changes ...func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/payments?currency=eur", strings.NewReader(body))
	r.Header.Set("Idempotency-Key", "k1")
	r.Header.Set("Tenant", "acme")
	for _, change := range changes {
		change(r)
	}
	return r
}

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

func withoutKey(r *http.Request) { r.Header.Del("Idempotency-Key") }

func withBody(text string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
}

func withMethod(method string) func(*http.Request) {
	return func(r *http.Request) { r.Method = method }
}

func withTenant(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Tenant", name) }
}

// send sends the request and returns the answer.
func (f *fixture) send(r *http.Request) *httptest.ResponseRecorder {
	f.Helper()
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// want sends the request and wants that status, and that code if it is one of the middleware's answers; empty: the handler's.
func (f *fixture) want(r *http.Request, status int, code string) *httptest.ResponseRecorder {
	f.Helper()
	w := f.send(r)
	if w.Code != status || codeOf(f, w) != code {
		f.Fatalf("answer %d %q, want %d %q; body %s", w.Code, codeOf(f, w), status, code, w.Body)
	}
	return w
}

func codeOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Header().Get("Content-Type") != "application/problem+json" {
		return ""
	}
	var p struct{ Code string }
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("problem %s: %v", w.Body, err)
	}
	return p.Code
}

func (f *fixture) wantCalls(n int) {
	f.Helper()
	if f.calls != n {
		f.Fatalf("the handler ran %d times, want %d", f.calls, n)
	}
}

// id is the run id of the key k1 of acme.
func id() string { return run.ID(run.KeyName("acme", "k1")) }

func (f *fixture) wantStatus(status claim.Status) claim.Snapshot {
	f.Helper()
	snap, err := f.store.Get(f.Context(), id())
	if err != nil || snap.Status != status {
		f.Fatalf("the record is %q (%v), want %q", snap.Status, err, status)
	}
	return snap
}

// die lets a process claim the key for the request and end without a word: the record stays as it was while the handler ran.
func (f *fixture) die(r *http.Request) {
	f.Helper()
	work := f.work
	var running claim.Snapshot
	f.work = func(http.ResponseWriter, *http.Request) {
		var err error
		if running, err = f.store.Get(context.Background(), id()); err != nil {
			f.Fatal(err)
		}
	}
	f.send(r)
	f.work = work
	f.calls = 0
	f.store.Put(id(), running.Record)
}

// held runs do while the request is being handled, and returns its answer.
func (f *fixture) held(r *http.Request, do func()) *httptest.ResponseRecorder {
	f.Helper()
	work := f.work
	started, resume, answered := make(chan struct{}), make(chan struct{}), make(chan *httptest.ResponseRecorder)
	f.work = func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-resume
		work(w, r)
	}
	go func() { answered <- f.send(r) }()
	<-started
	f.work = work
	do()
	close(resume)
	return <-answered
}
