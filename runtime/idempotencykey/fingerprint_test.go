package idempotencykey_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// others are requests that are not the one of request().
func others() map[string]*http.Request {
	at := func(target string) func(*http.Request) {
		return func(r *http.Request) {
			u, err := url.Parse(target)
			if err != nil {
				panic(err)
			}
			r.URL, r.RequestURI = u, target
		}
	}
	return map[string]*http.Request{
		"method":            request(withMethod(http.MethodPut)),
		"endpoint":          request(at("/refunds?currency=eur")),
		"path parameter":    request(at("/payments/7?currency=eur")),
		"spelling of path":  request(at("/p%61yments?currency=eur")),
		"query string":      request(at("/payments?currency=usd")),
		"no query string":   request(at("/payments")),
		"body":              request(withBody(`{"amount":101}`)),
		"spacing of a body": request(withBody(`{"amount": 100}`)),
		"no body":           request(withBody("")),
	}
}

func TestAnotherRequestUnderAUsedKeyIsRefusedInEveryStatus(t *testing.T) {
	for name, other := range others() {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(f *fixture) {
				send := func() *http.Request {
					b, _ := io.ReadAll(other.Body)
					other.Body = io.NopCloser(bytes.NewReader(b))
					again := other.Clone(f.Context())
					again.Body = io.NopCloser(bytes.NewReader(b))
					return again
				}
				f.held(request(), func() { f.want(send(), 409, "reused") })
				f.wantStatus(claim.StatusCompleted)
				f.want(send(), 409, "reused")

				f.store.Delete(id())
				f.work = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
				f.want(request(), 500, "")
				f.wantStatus(claim.StatusReleased)
				f.want(send(), 409, "reused")
				f.wantCalls(2)

				f.die(request())
				time.Sleep(2 * time.Minute)
				f.want(request(), 409, "unknown")
				f.want(send(), 409, "reused")
				f.wantCalls(0)
			})
		})
	}
}

func TestReusedIs422ByOption(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) {
		c.Problems = map[idempotencykey.Code]idempotencykey.Problem{idempotencykey.CodeReused: {Status: 422}}
	}, func(f *fixture) {
		f.want(request(), 201, "")
		f.want(request(withBody("{}")), 422, "reused")
	})
}

func TestReusedIsInProgressByOptionWhileRunning(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.ReusedInProgress = true }, func(f *fixture) {
		f.held(request(), func() {
			if w := f.want(request(withBody("{}")), 409, "in_progress"); w.Header().Get("Retry-After") != "1" {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
		})
		f.want(request(withBody("{}")), 409, "reused")
	})
}

func TestEndpointsBehindOnePrefixAreApart(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		mux := http.NewServeMux()
		mux.Handle("/payments/", http.StripPrefix("/payments", f))
		mux.Handle("/refunds/", http.StripPrefix("/refunds", f))
		for path, want := range map[string]int{"/payments/1": 201, "/refunds/1": 201} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("Idempotency-Key", path)
			r.Header.Set("Tenant", "acme")
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		r := httptest.NewRequest(http.MethodPost, "/refunds/1", strings.NewReader(body))
		r.Header.Set("Idempotency-Key", "/payments/1")
		r.Header.Set("Tenant", "acme")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if codeOf(t, w) != "reused" {
			t.Errorf("a refund under the key of a payment: %d %s", w.Code, w.Body)
		}
	})
}

func TestAnEndpointCanBeNamed(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) {
		c.Endpoint = func(*http.Request) string { return "create-payment" }
	}, func(f *fixture) {
		f.want(request(), 201, "")
		f.want(request(func(r *http.Request) { r.RequestURI = "/v2/payments?currency=eur" }), 201, "")
		f.wantCalls(1)
	})
}

// FuzzFingerprint looks for two different requests with one fingerprint, by moving the boundaries between the parts.
func FuzzFingerprint(f *testing.F) {
	f.Add("POST", "/payments", "a=1", "body", uint8(0), uint8(3))
	f.Add("", "", "", "", uint8(0), uint8(0))
	f.Add("P", "OST/", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x01", uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, method, endpoint, query, body string, from, to uint8) {
		one := idempotencykey.Fingerprint(method, endpoint, query, []byte(body))
		if one != idempotencykey.Fingerprint(method, endpoint, query, []byte(body)) {
			t.Fatal("one request has two fingerprints")
		}
		if len(one) != 67 || !strings.HasPrefix(one, "v1:") {
			t.Fatalf("fingerprint %q", one)
		}
		parts := [4]string{method, endpoint, query, body}
		moved := parts
		i := int(from) % 3
		n := int(to) % (len(parts[i]) + 1)
		moved[i], moved[i+1] = parts[i][:n], parts[i][n:]+parts[i+1]
		two := idempotencykey.Fingerprint(moved[0], moved[1], moved[2], []byte(moved[3]))
		if (one == two) != (moved == parts) {
			t.Fatalf("%q and %q: equal fingerprints are %v", parts, moved, one == two)
		}
	})
}
