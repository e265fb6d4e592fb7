package idempotencykey_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	modelWindow = time.Hour
	modelLease  = time.Minute
	modelTenant = "acme"
)

// modelKey is what the model knows of a key: a few words in the place of leases, versions and stores.
type modelKey struct {
	state  claim.Status // empty: free
	body   string       // of the request it was first used for
	status int          // of the stored answer
	effect int          // in the stored answer
	until  time.Time    // when it is forgotten; while running, when its lease ends
}

// settle is the key as time has changed it.
func (k *modelKey) settle(now time.Time, lapse idempotencykey.Lapse) {
	if k.state == claim.StatusInProgress && !now.Before(k.until) {
		switch {
		case !now.Before(k.until.Add(modelWindow)):
			*k = modelKey{}
		case lapse != idempotencykey.LapseUnknown:
			k.state, k.until = claim.StatusReleased, k.until.Add(modelWindow)
		}
		return
	}
	if k.state != "" && k.state != claim.StatusInProgress && !now.Before(k.until) {
		*k = modelKey{}
	}
}

// modelled is one history: the API and the model side by side.
type modelled struct {
	*rapid.T

	lapse   idempotencykey.Lapse
	now     time.Time // by every clock
	store   *memclaim.Store
	handler http.Handler
	keys    map[string]*modelKey
	effects int  // of the API
	next    int  // what the handler answers next
	ran     bool // whether it did
}

// TestRandomHistoriesFollowTheModel plays requests, repeats, deaths and the passing of time.
func TestRandomHistoriesFollowTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := &modelled{
			T: rt, keys: map[string]*modelKey{"a": {}, "b": {}}, now: time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC),
			lapse: rapid.SampledFrom([]idempotencykey.Lapse{idempotencykey.LapseUnknown, idempotencykey.LapseRerun}).Draw(rt, "lapse"),
		}
		clock := func() time.Time { return m.now }
		m.store = memclaim.New(memclaim.WithClock(clock))
		guard, err := idempotencykey.New(idempotencykey.Config{
			Store: m.store, Lapse: m.lapse, Window: modelWindow, Timeout: modelLease / 3, Lease: modelLease, Logger: slog.New(slog.DiscardHandler),
			Scope:        func(*http.Request) (string, error) { return modelTenant, nil },
			ClaimOptions: []claim.Option{claim.WithClock(clock)},
		})
		if err != nil {
			rt.Fatal(err)
		}
		m.handler = guard.Handler(http.HandlerFunc(m.handle))
		rt.Repeat(map[string]func(*rapid.T){"request": m.request, "die": m.die, "wait": m.wait})
	})
}

func (m *modelled) handle(w http.ResponseWriter, _ *http.Request) {
	m.ran = true
	if m.next == 0 {
		panic("on purpose")
	}
	m.effects++
	w.WriteHeader(m.next)
	_, _ = fmt.Fprint(w, m.effects)
}

// send sends the body under the key; the zero status stands for a panic.
func (m *modelled) send(key, body string) (status int, code, text string, replayed bool) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/payments", strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	m.ran = false
	func() {
		defer func() {
			if v := recover(); v != nil {
				w.Code = 0
			}
		}()
		m.handler.ServeHTTP(w, r)
	}()
	text = w.Body.String()
	if w.Header().Get("Content-Type") == "application/problem+json" {
		var p struct{ Code string }
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			m.Fatal(err)
		}
		code = p.Code
	}
	return w.Code, code, text, w.Header().Get("Idempotency-Replay") == "true"
}

// request sends a request and compares answer, handler and key with the model.
func (m *modelled) request(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
	body := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "body")
	m.next = rapid.SampledFrom([]int{201, 204, 400, 401, 409, 429, 500, 503, 0}).Draw(t, "answer")
	k := m.keys[name]
	k.settle(m.now, m.lapse)
	status, code, text, replayed := m.send(name, body)
	want := func(wantStatus int, wantCode string, wantRan bool) {
		t.Helper()
		if status != wantStatus || code != wantCode || m.ran != wantRan {
			t.Fatalf("key %s was %q: answer %d %q %s, the handler ran: %v; want %d %q, %v", name, k.state, status, code, text, m.ran, wantStatus, wantCode, wantRan)
		}
	}
	switch {
	case k.state != "" && k.body != body:
		want(http.StatusConflict, "reused", false)
	case k.state == claim.StatusInProgress && m.now.Before(k.until):
		want(http.StatusConflict, "in_progress", false)
	case k.state == claim.StatusInProgress:
		want(http.StatusConflict, "unknown", false)
		k.state, k.until = claim.StatusUnknown, m.now.Add(modelWindow)
	case k.state == claim.StatusUnknown:
		want(http.StatusConflict, "unknown", false)
	case k.state == claim.StatusCompleted:
		want(k.status, "", false)
		if !replayed || k.status != http.StatusNoContent && text != strconv.Itoa(k.effect) {
			t.Fatalf("key %s: replayed %v: %s, want %d", name, replayed, text, k.effect)
		}
	default:
		want(m.next, "", true)
		*k = modelKey{state: claim.StatusReleased, body: body, until: m.now.Add(modelWindow)}
		switch m.next {
		case 201, 204, 400:
			k.state, k.status, k.effect = claim.StatusCompleted, m.next, m.effects
		}
	}
}

// die begins a request in a process that ends while its handler runs.
func (m *modelled) die(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
	k := m.keys[name]
	k.settle(m.now, m.lapse)
	if k.state != "" && k.state != claim.StatusReleased {
		t.Skip("nothing runs under this key")
	}
	body := k.body
	if body == "" {
		body = "x"
	}
	id := run.ID(run.KeyName(modelTenant, name))
	var running claim.Snapshot
	m.store.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
		if verb == memclaim.Swap && m.ran {
			m.store.Before(nil)
			var err error
			running, err = m.store.Get(context.Background(), id)
			return err
		}
		return nil
	})
	m.next = http.StatusCreated
	m.send(name, body)
	m.store.Put(id, running.Record)
	*k = modelKey{state: claim.StatusInProgress, body: body, until: m.now.Add(modelLease)}
}

// wait lets time pass.
func (m *modelled) wait(t *rapid.T) {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{time.Second, modelLease - time.Second, modelLease, modelWindow / 2, modelWindow}).Draw(t, "time"))
}
