package idempotencykey_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

const (
	hammerReplicas = 3
	hammerKeys     = 12
	hammerClients  = 4 // for each key
)

// TestOneAcceptedOperationForEachKey lets clients hammer three replicas of an API, each with a client of the store of its own, through
// a network that loses requests and replies, cuts answers short and delivers requests twice, while the handler fails now and then.
func TestOneAcceptedOperationForEachKey(t *testing.T) {
	for name, start := range allEngines() {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			t.Run("in transaction", func(t *testing.T) {
				hammer(t, e, idempotencykey.LapseInTransaction, "in-", e.insert, e.effects)
			})
			t.Run("outside", func(t *testing.T) {
				var outside memory
				hammer(t, e, idempotencykey.LapseUnknown, "out-", outside.insert, func(*testing.T) map[string][]string { return outside.effects })
			})
		})
	}
}

// memory is a place for effects that knows of no transactions.
type memory struct {
	mu      sync.Mutex
	effects map[string][]string
}

func (m *memory) insert(_ context.Context, key, id string, _ answerOf) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.effects == nil {
		m.effects = make(map[string][]string)
	}
	m.effects[key] = append(m.effects[key], id)
	return nil
}

func hammer(
	t *testing.T, e engine, lapse idempotencykey.Lapse, prefix string,
	insert func(ctx context.Context, key, id string, answer answerOf) error, effects func(*testing.T) map[string][]string,
) {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mathrand.N(5) == 0 {
			http.Error(w, "nothing done", http.StatusInternalServerError)
			return
		}
		key, id := r.Header.Get("Idempotency-Key"), rand.Text()
		answer := func() (idempotencykey.Response, error) { return idempotencykey.JSON(http.StatusCreated, id) }
		if err := insert(r.Context(), key, id, answer); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, "%q\n", id)
	})
	urls := make([]string, hammerReplicas)
	for i := range urls {
		guard, err := idempotencykey.New(idempotencykey.Config{
			Store: e.open(t), Lapse: lapse, Logger: slog.New(slog.DiscardHandler), RequireKey: true,
			Scope: func(*http.Request) (string, error) { return "acme", nil },
			// A busy machine: the deadline is for a store that hangs, not for one that is slow.
			ClaimOptions: []claim.Option{claim.WithStoreTimeout(10 * time.Second)},
		})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(badNetwork(guard.Handler(api)))
		t.Cleanup(server.Close)
		urls[i] = server.URL
	}
	answers := hammered(t, prefix, urls)
	found := effects(t)
	for key, bodies := range answers {
		if len(found[key]) != 1 {
			t.Errorf("key %s has %d effects: %v", key, len(found[key]), found[key])
			continue
		}
		for _, body := range bodies {
			if body != fmt.Sprintf("%q\n", found[key][0]) {
				t.Errorf("key %s: a client was answered %s, the effect is %s", key, body, found[key][0])
			}
		}
	}
	if n := countPrefix(found, prefix); n != hammerKeys {
		t.Errorf("%d keys have effects, want %d", n, hammerKeys)
	}
	refusesOthers(t, urls[0], prefix)
}

func countPrefix(found map[string][]string, prefix string) int {
	n := 0
	for key := range found {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// hammered sends each key from several clients at once and returns what they were answered.
func hammered(t *testing.T, prefix string, urls []string) map[string][]string {
	t.Helper()
	var (
		mu      sync.Mutex
		clients sync.WaitGroup
	)
	answers, attempts, replays := make(map[string][]string), 0, 0
	for k := range hammerKeys {
		for c := range hammerClients {
			clients.Go(func() {
				key := fmt.Sprintf("%s%d", prefix, k)
				tr := &idempotencykey.Transport{
					Base: &roundRobin{urls: urls, next: k + c}, Attempts: 300, MinBackoff: 5 * time.Millisecond, MaxBackoff: 100 * time.Millisecond,
				}
				report, body, err := post(t.Context(), tr, urls[0], key, `{"amount":1}`)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || report.status != http.StatusCreated {
					t.Errorf("key %s: %d %s, %v", key, report.status, body, err)
				}
				answers[key] = append(answers[key], body)
				attempts += report.Attempts
				if report.Replayed {
					replays++
				}
			})
		}
	}
	clients.Wait()
	t.Logf("%d operations, %d clients, %d attempts, %d answered with a replay", hammerKeys, hammerKeys*hammerClients, attempts, replays)
	if attempts == hammerKeys*hammerClients || replays < hammerKeys {
		t.Error("the network was not bad, or nothing was replayed")
	}
	return answers
}

type posted struct {
	idempotencykey.Report

	status int
}

func post(ctx context.Context, tr http.RoundTripper, url, key, body string) (posted, string, error) {
	req, err := http.NewRequestWithContext(idempotencykey.WithKey(ctx, key), http.MethodPost, url+"/payments", strings.NewReader(body))
	if err != nil {
		return posted{}, "", err
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return posted{}, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	report, _ := idempotencykey.ReportOf(res)
	return posted{report, res.StatusCode}, string(b), err
}

// refusesOthers sends another request under each used key.
func refusesOthers(t *testing.T, url, prefix string) {
	t.Helper()
	tr := &idempotencykey.Transport{Attempts: 300, MinBackoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond}
	for k := range hammerKeys {
		got, body, err := post(t.Context(), tr, url, fmt.Sprintf("%s%d", prefix, k), `{"amount":2}`)
		if err != nil || got.status != http.StatusConflict || !strings.Contains(body, `"reused"`) {
			t.Errorf("another request under a used key: %d %s, %v", got.status, body, err)
		}
	}
}

// roundRobin sends each attempt to the next replica.
type roundRobin struct {
	urls []string
	next int
}

func (r *roundRobin) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Host = strings.TrimPrefix(r.urls[r.next%len(r.urls)], "http://")
	r.next++
	return http.DefaultTransport.RoundTrip(req)
}

// badNetwork stands before a server and does to a good half of the requests what networks do.
func badNetwork(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		deliver := func() *httptest.ResponseRecorder {
			again := r.Clone(context.WithoutCancel(r.Context()))
			again.Body = io.NopCloser(bytes.NewReader(body))
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, again)
			return rec
		}
		fault := mathrand.N(8)
		if fault == 0 { // the request is lost
			panic(http.ErrAbortHandler)
		}
		var twice sync.WaitGroup
		if fault == 1 { // it is delivered twice
			twice.Go(func() { deliver() })
		}
		rec := deliver()
		twice.Wait()
		switch fault {
		case 2, 3: // the reply is lost
			panic(http.ErrAbortHandler)
		case 4: // or cut short
			w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()+1))
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
			panic(http.ErrAbortHandler)
		}
		for name, values := range rec.Header() {
			w.Header()[name] = slices.Clone(values)
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}
