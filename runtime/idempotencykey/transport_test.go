package idempotencykey_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// sent is a request as a server saw it.
type sent struct {
	at        time.Time
	key, body string
}

// wire is the network and the server behind it: each attempt gets the next answer, the last one for ever.
type wire struct {
	mu      sync.Mutex
	answers []func(*http.Request) (*http.Response, error)
	seen    []sent
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	b := []byte(nil)
	if r.Body != nil {
		b, _ = io.ReadAll(r.Body)
	}
	w.mu.Lock()
	w.seen = append(w.seen, sent{time.Now(), r.Header.Get("Idempotency-Key"), string(b)})
	next := w.answers[min(len(w.seen), len(w.answers))-1]
	w.mu.Unlock()
	res, err := next(r)
	if res != nil {
		res.Request = r
	}
	return res, err
}

func answer(status int, body string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		res := &http.Response{StatusCode: status, Header: make(http.Header), Body: io.NopCloser(strings.NewReader(body))}
		for i := 0; i < len(header); i += 2 {
			res.Header.Set(header[i], header[i+1])
		}
		return res, nil
	}
}

// coded is an answer of the middleware.
func coded(status int, code string, header ...string) func(*http.Request) (*http.Response, error) {
	return answer(status, `{"code":"`+code+`"}`, append(header, "Content-Type", "application/problem+json; charset=utf-8")...)
}

func fails(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hangs never answers.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// cut answers and breaks off within the body.
func cut(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusCreated, Header: make(http.Header), Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), broken{}))}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errWire }

var errDial = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// call sends one POST in fake time.
type call struct {
	*testing.T

	wire *wire
	tr   *idempotencykey.Transport
	ctx  context.Context //nolint:containedctx // of the one request
	req  func(*http.Request)
}

func inCall(t *testing.T, answers []func(*http.Request) (*http.Response, error), test func(c *call)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answers: answers}
		test(&call{T: t, wire: w, tr: &idempotencykey.Transport{Base: w, Attempts: 6}, ctx: t.Context(), req: func(*http.Request) {}})
	})
}

func (c *call) do() (*http.Response, error) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, "http://api.example.com/payments", io.MultiReader(strings.NewReader(body)))
	if err != nil {
		c.Fatal(err)
	}
	c.req(req)
	client := &http.Client{Transport: c.tr}
	return client.Do(req)
}

func (c *call) wantAnswer(status int, attempts int) *http.Response {
	c.Helper()
	res, err := c.do()
	if err != nil {
		c.Fatalf("got error %v, want %d", err, status)
	}
	if res.StatusCode != status || len(c.wire.seen) != attempts {
		c.Fatalf("answer %d after %d attempts, want %d after %d", res.StatusCode, len(c.wire.seen), status, attempts)
	}
	return res
}

func (c *call) wantUnknown(attempts int) *idempotencykey.OutcomeUnknown {
	c.Helper()
	began := time.Now()
	res, err := c.do()
	unknown, ok := errors.AsType[*idempotencykey.OutcomeUnknown](err)
	if !ok {
		c.Fatalf("got %v, %v; want an outcome unknown", res, err)
	}
	if len(c.wire.seen) != attempts || unknown.Attempts != attempts {
		c.Fatalf("%d attempts seen, %d told, want %d: %v", len(c.wire.seen), unknown.Attempts, attempts, err)
	}
	if unknown.Key != c.wire.seen[0].key || !unknown.FirstSend.Equal(began) {
		c.Errorf("key %q, first send %v: want %q, %v", unknown.Key, unknown.FirstSend, c.wire.seen[0].key, began)
	}
	return unknown
}

func TestKeyAndBodyStayTheSameOverRetries(t *testing.T) {
	for name, first := range map[string]func(*http.Request) (*http.Response, error){
		"timeout":                    hangs,
		"connection error":           fails(errWire),
		"refused connection":         fails(errDial),
		"500":                        answer(500, ""),
		"502 of a proxy":             answer(502, "<html>"),
		"503 unavailable":            coded(503, "unavailable"),
		"500 unrecorded":             coded(500, "unrecorded"),
		"in progress":                coded(409, "in_progress", "Retry-After", "1"),
		"in progress without a code": answer(409, "", "Retry-After", "1"),
		"answer that breaks off":     cut,
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, []func(*http.Request) (*http.Response, error){first, first, answer(201, "done", "Idempotency-Replay", "true")}, func(c *call) {
				res := c.wantAnswer(201, 3)
				report, ok := idempotencykey.ReportOf(res)
				if !ok || report.Key != c.wire.seen[0].key || report.Attempts != 3 || !report.Replayed || !report.FirstSend.Equal(c.wire.seen[0].at) {
					c.Errorf("report %+v", report)
				}
				for _, s := range c.wire.seen {
					if len(s.key) != 36 || s.key != c.wire.seen[0].key || s.body != body {
						c.Errorf("sent %q %q", s.key, s.body)
					}
				}
				if b, err := io.ReadAll(res.Body); err != nil || string(b) != "done" {
					c.Errorf("body %q, %v", b, err)
				}
			})
		})
	}
}

func TestAnswersThatSettleAreNotRepeated(t *testing.T) {
	for name, final := range map[string]func(*http.Request) (*http.Response, error){
		"200": answer(200, ""), "303": answer(303, "", "Location", ""), "400": answer(400, ""), "404": answer(404, ""),
		"409 reused": coded(409, "reused"), "422": answer(422, ""), "422 reused": coded(422, "reused", "Retry-After", "1"),
		"409 of the API": answer(409, "{}"), "409 expired": coded(409, "expired"), "401": answer(401, ""), "429": answer(429, "", "Retry-After", "1"),
		"409 response_not_kept": coded(409, "response_not_kept"),
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, []func(*http.Request) (*http.Response, error){final}, func(c *call) {
				res, err := c.tr.RoundTrip(mustRequest(c))
				if err != nil || len(c.wire.seen) != 1 {
					c.Fatalf("%v, %v after %d attempts", res, err, len(c.wire.seen))
				}
				if report, _ := idempotencykey.ReportOf(res); report.Replayed || report.Attempts != 1 {
					c.Errorf("report %+v", report)
				}
			})
		})
	}
}

func mustRequest(c *call) *http.Request {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, "http://api.example.com/payments", strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	return req
}

func TestWhatMayHaveHappenedEndsAsOutcomeUnknown(t *testing.T) {
	type list = []func(*http.Request) (*http.Response, error)
	for name, tt := range map[string]struct {
		answers  list
		attempts int
		status   int
		code     idempotencykey.Code
	}{
		"timeouts":                              {list{hangs}, 6, 0, ""},
		"connection errors":                     {list{fails(errWire)}, 6, 0, ""},
		"server errors":                         {list{answer(500, "x")}, 6, 500, ""},
		"always in progress":                    {list{coded(409, "in_progress")}, 6, 409, "in_progress"},
		"the server does not know either":       {list{coded(409, "unknown")}, 1, 409, "unknown"},
		"a lost answer, then unavailable":       {list{cut, coded(503, "unavailable")}, 6, 503, "unavailable"},
		"a lost answer, then refused":           {list{hangs, fails(errDial)}, 6, 0, ""},
		"a lost answer, then unauthorized":      {list{hangs, answer(401, "")}, 2, 401, ""},
		"a lost answer, then forbidden":         {list{fails(errWire), answer(403, "")}, 2, 403, ""},
		"a lost answer, then too many requests": {list{fails(errWire), answer(429, "")}, 6, 429, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, tt.answers, func(c *call) {
				unknown := c.wantUnknown(tt.attempts)
				if tt.status == 0 {
					if unknown.Last != nil {
						c.Errorf("last answer %+v", unknown.Last)
					}
				} else if unknown.Last == nil || unknown.Last.Status != tt.status || unknown.Last.Code != tt.code {
					c.Errorf("last answer %+v, want %d %s", unknown.Last, tt.status, tt.code)
				}
				if !strings.Contains(unknown.Error(), unknown.Key) || strings.Contains(unknown.Error(), "amount") {
					c.Errorf("error %v", unknown)
				}
			})
		})
	}
}

func TestWhatSurelyDidNotHappenIsNoUnknownOutcome(t *testing.T) {
	t.Run("store unreachable throughout", func(t *testing.T) {
		inCall(t, []func(*http.Request) (*http.Response, error){coded(503, "unavailable")}, func(c *call) { c.wantAnswer(503, 6) })
	})
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close() // nobody listens on its port now
		tr := &idempotencykey.Transport{Base: &http.Transport{}, Attempts: 2, MinBackoff: time.Millisecond}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tr.RoundTrip(req)
		if _, unknown := errors.AsType[*idempotencykey.OutcomeUnknown](err); unknown || err == nil {
			t.Errorf("got %v", err)
		}
	})
}

func TestNothingIsSentWhenTheAnswerCouldComeAfterTheWindow(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){hangs}, func(c *call) {
		c.tr.Window, c.tr.Timeout, c.tr.Attempts = 10*time.Minute, time.Minute, 1000
		_, err := c.do()
		if _, ok := errors.AsType[*idempotencykey.OutcomeUnknown](err); !ok || !errors.Is(err, idempotencykey.ErrWindowOver) || !errors.Is(err, context.DeadlineExceeded) {
			c.Errorf("error %v", err)
		}
		last := c.wire.seen[len(c.wire.seen)-1].at.Sub(c.wire.seen[0].at)
		if last > 9*time.Minute || last < 7*time.Minute {
			c.Errorf("last sent %v after the first", last)
		}
	})
}

func TestRetryAfterIsHeeded(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){
		coded(409, "in_progress", "Retry-After", "20"),
		func(r *http.Request) (*http.Response, error) {
			return answer(503, "", "Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat))(r)
		},
		answer(201, ""),
	}, func(c *call) {
		c.wantAnswer(201, 3)
		if d := c.wire.seen[1].at.Sub(c.wire.seen[0].at); d != 20*time.Second {
			c.Errorf("second attempt after %v", d)
		}
		if d := c.wire.seen[2].at.Sub(c.wire.seen[1].at); d < 29*time.Second || d > 30*time.Second {
			c.Errorf("third attempt after %v", d)
		}
	})
}

func TestACallerThatGivesUpLearnsThatTheOutcomeIsUnknown(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){hangs}, func(c *call) {
		ctx, cancel := context.WithTimeout(c.ctx, time.Second)
		defer cancel()
		c.ctx = ctx
		if unknown := c.wantUnknown(1); !errors.Is(unknown, context.DeadlineExceeded) {
			c.Errorf("error %v", unknown)
		}
	})
}

func TestLookupIsAskedBeforeAnythingIsSentAgain(t *testing.T) {
	type result = func(*http.Request) (*http.Response, error)
	found, absent, broken := answer(200, "found"), fails(nil), fails(errWire)
	for name, tt := range map[string]struct {
		results  []result
		status   int
		attempts int
		lookups  int
	}{
		"it happened":             {[]result{found}, 200, 1, 1},
		"it did not":              {[]result{absent}, 201, 2, 1},
		"first it cannot be told": {[]result{broken, broken, found}, 200, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, []func(*http.Request) (*http.Response, error){hangs, answer(201, "")}, func(c *call) {
				lookups := 0
				c.tr.Lookup = func(_ context.Context, p idempotencykey.Pending) (*http.Response, error) {
					lookups++
					if p.Key != c.wire.seen[0].key || string(p.Body) != body || p.Request.URL.Path != "/payments" || p.Attempts != 1 || p.Last != nil {
						c.Errorf("pending %+v", p)
					}
					return tt.results[lookups-1](p.Request)
				}
				res := c.wantAnswer(tt.status, tt.attempts)
				if report, _ := idempotencykey.ReportOf(res); lookups != tt.lookups || report.LookedUp != (tt.status == 200) {
					c.Errorf("%d look-ups, report %+v", lookups, report)
				}
			})
		})
	}
	t.Run("it can never be told", func(t *testing.T) {
		inCall(t, []func(*http.Request) (*http.Response, error){hangs}, func(c *call) {
			c.tr.Lookup = func(context.Context, idempotencykey.Pending) (*http.Response, error) { return nil, errWire }
			c.wantUnknown(1)
		})
	})
}

func TestOtherMethodsPassThrough(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){answer(500, "")}, func(c *call) {
		c.req = func(r *http.Request) { r.Method = http.MethodGet }
		res := c.wantAnswer(500, 1)
		if _, ok := idempotencykey.ReportOf(res); ok || c.wire.seen[0].key != "" {
			c.Errorf("sent with key %q", c.wire.seen[0].key)
		}
	})
}

func TestCodesOfAnotherAPIAreUnderstood(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){
		answer(409, `{"error":"E01004"}`), answer(409, `{"error":"E01005"}`),
	}, func(c *call) {
		c.tr.Classify = func(_ *http.Response, body []byte) idempotencykey.Code {
			if strings.Contains(string(body), "E01004") {
				return idempotencykey.CodeInProgress
			}
			return idempotencykey.CodeReused
		}
		c.wantAnswer(409, 2)
	})
}

func TestLongAnswersAreHandedOnWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	inCall(t, []func(*http.Request) (*http.Response, error){answer(200, long)}, func(c *call) {
		c.tr.MaxAnswer = 10
		res := c.wantAnswer(200, 1)
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != long {
			c.Errorf("%d bytes, %v", len(b), err)
		}
		if err := res.Body.Close(); err != nil {
			c.Error(err)
		}
	})
}

func TestBodiesThatCannotBeHeldAreRefusedBeforeAnythingIsSent(t *testing.T) {
	inCall(t, nil, func(c *call) {
		c.tr.MaxBody = int64(len(body)) - 1
		if _, err := c.do(); err == nil || !strings.Contains(err.Error(), "set MaxBody") {
			c.Errorf("got %v", err)
		}
		c.tr.MaxBody, c.tr.Window, c.tr.Timeout = 0, time.Minute, time.Minute
		if _, err := c.do(); err == nil || !strings.Contains(err.Error(), "it must be less than the window") {
			c.Errorf("got %v", err)
		}
	})
}

func TestARedirectedRequestKeepsItsKey(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){
		answer(307, "", "Location", "/v2/payments"), answer(201, ""),
	}, func(c *call) {
		c.ctx = idempotencykey.WithOperation(idempotencykey.WithPrefix(c.ctx, "p"), "o")
		c.req = func(r *http.Request) {
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
		}
		c.wantAnswer(201, 2)
		if c.wire.seen[1] != (sent{c.wire.seen[1].at, "p/o", body}) {
			c.Errorf("sent %+v", c.wire.seen)
		}
	})
}
