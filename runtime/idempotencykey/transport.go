package idempotencykey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// The defaults of Transport.
const (
	DefaultAttemptTimeout = 30 * time.Second
	DefaultAttempts       = 12
	DefaultMinBackoff     = 200 * time.Millisecond
	DefaultMaxBackoff     = 30 * time.Second
	DefaultMaxAnswer      = 1 << 20
)

// Transport is an http.RoundTripper that sends each mutating request under a key and repeats it, with the same key and the same body,
// until it has an answer that settles it: after timeouts, connection errors, 5xx, and 409 for a request in progress. Other requests
// pass through.
//
// The key is that of the request's header, else that of its context ([WithKey], [WithPrefix], [WithRun]), else a new one. An answer
// says by [ReportOf] whether it was replayed. When the transport has to stop and the request may have taken effect, the error is an
// [*OutcomeUnknown]; other errors and answers mean that it did not, or say what it did.
//
// The zero Transport is ready for use.
type Transport struct {
	// Base sends. Default: http.DefaultTransport.
	Base http.RoundTripper
	// Header carries the key. Default: Idempotency-Key.
	Header string
	// ReplayHeader marks answers that the server sends again. Default: Idempotency-Replay.
	ReplayHeader string
	// Quoted sends keys as quoted strings of RFC 8941. False: bare, as most APIs want them.
	Quoted bool
	// Window is how long the server keeps a key. Nothing is sent later than Window − Timeout after the first send. Default: 3 h.
	Window time.Duration
	// Timeout bounds each attempt, with the answer's body. Default: 30 s.
	Timeout time.Duration
	// Attempts bounds how often a request is sent or looked up. Default: 12, which spans one to two minutes.
	Attempts int
	// MinBackoff is the first wait between attempts, and doubles up to MaxBackoff; an answer's Retry-After can make a wait longer.
	// Defaults: 200 ms, 30 s.
	MinBackoff, MaxBackoff time.Duration
	// MaxBody is the greatest length of a request's body in bytes, which is held in memory. Default: 1 MiB.
	MaxBody int64
	// MaxAnswer is how much of an answer's body is read before the answer counts as received; of a longer one the rest can still be
	// lost under the reader's hands. Default: 1 MiB.
	MaxAnswer int64
	// Lookup, if set, is asked before anything is sent again: an answer settles the operation; nil without an error says that it
	// did not happen, and it is sent again; an error leaves it open, and Lookup is asked again.
	Lookup func(ctx context.Context, p Pending) (*http.Response, error)
	// Classify names the case of an answer, for APIs with codes of their own. Empty: none of ours. Default: the member "code" of an
	// application/problem+json body.
	Classify func(res *http.Response, body []byte) Code
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !Mutating(req.Method) {
		return t.base().RoundTrip(req)
	}
	s, err := t.prepare(req)
	if err != nil {
		return nil, err
	}
	return s.run()
}

// CloseIdleConnections closes those of Base.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	return cmp.Or(t.Base, http.DefaultTransport)
}

// prepare takes key and body.
func (t *Transport) prepare(req *http.Request) (*sending, error) {
	body, err := t.takeBody(req)
	if err != nil {
		return nil, err
	}
	header := http.CanonicalHeaderKey(cmp.Or(t.Header, DefaultHeader))
	key, spelling, err := t.keyOf(req, header)
	if err != nil {
		return nil, fmt.Errorf("idempotency key: %w", err)
	}
	window, timeout := cmp.Or(t.Window, DefaultWindow), cmp.Or(t.Timeout, DefaultAttemptTimeout)
	if timeout >= window {
		return nil, fmt.Errorf("idempotency key: Timeout is %v, it must be less than the window of %v", timeout, window)
	}
	s := &sending{
		t: t, req: req.Clone(req.Context()), key: key, body: body, timeout: timeout, span: window - timeout,
		attempts: cmp.Or(t.Attempts, DefaultAttempts), wait: cmp.Or(t.MinBackoff, DefaultMinBackoff), maxWait: cmp.Or(t.MaxBackoff, DefaultMaxBackoff),
	}
	s.req.Header[header] = []string{spelling}
	s.req.Body, s.req.GetBody = nil, nil
	if len(body) > 0 {
		s.req.ContentLength = int64(len(body))
		s.req.GetBody = func() (io.ReadCloser, error) { return newBody(body), nil }
	}
	return s, nil
}

// takeBody reads the body whole and closes it.
func (t *Transport) takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	limit := cmp.Or(t.MaxBody, DefaultMaxBody)
	body, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	err = errors.Join(err, req.Body.Close())
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("the request's body has more than %d bytes: set MaxBody of the transport to repeat larger ones", limit)
	}
	return body, nil
}

// keyOf is the key of the request's header, of the request that it was redirected from, of its context, or a new one; and how it is
// sent, which is as it was where the header was set.
func (t *Transport) keyOf(req *http.Request, header string) (key, spelling string, err error) {
	given := req.Header[header]
	if len(given) == 0 && req.Response != nil && req.Response.Request != nil {
		given = req.Response.Request.Header[header]
	}
	if len(given) > 0 {
		key, err = ParseKey(given)
		return key, given[0], err
	}
	if key, err = keyFromContext(req.Context()); err != nil {
		return "", "", err
	}
	if key == "" {
		key = NewKey()
	}
	return key, spellKey(key, t.Quoted), nil
}

// received is what one attempt brought: an answer with its body, or an error.
type received struct {
	res  *http.Response
	body []byte
	err  error
	sent bool // the request may have reached the server
}

// attempt sends the request once and reads the answer.
func (s *sending) attempt() received {
	ctx, cancel := context.WithTimeout(s.req.Context(), s.timeout)
	var asked, connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req := s.req.Clone(ctx)
	if len(s.body) > 0 {
		req.Body = newBody(s.body)
	}
	res, err := s.t.base().RoundTrip(req)
	if err != nil {
		cancel()
		return received{err: err, sent: connected.Load() || !asked.Load()}
	}
	limit := cmp.Or(s.t.MaxAnswer, DefaultMaxAnswer)
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		_ = res.Body.Close() // broken already
		cancel()
		return received{err: fmt.Errorf("read the answer: %w", err), sent: true}
	}
	if int64(len(body)) > limit { // the reader closes the rest
		res.Body = &restBody{Reader: io.MultiReader(bytes.NewReader(body), res.Body), Closer: res.Body, cancel: cancel}
		return received{res: res, body: body, sent: true}
	}
	_ = res.Body.Close() // read to its end
	cancel()
	res.Body = newBody(body)
	return received{res: res, body: body, sent: true}
}

// restBody ends the attempt's context when the answer is closed.
type restBody struct {
	io.Reader
	io.Closer

	cancel context.CancelFunc
}

func (b *restBody) Close() error {
	defer b.cancel()
	return b.Closer.Close()
}
