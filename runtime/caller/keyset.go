package caller

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	fetchTimeout = 5 * time.Second
	mostKeys     = 1 << 20 // bytes
	// fetchPause is how long an answer serves again: anybody can send tokens that name keys which do not exist, and must not be
	// able to turn each into a request to the issuer.
	fetchPause = 5 * time.Second
)

// keySet is the library's cached remote key set, which tells a failed fetch from a bad signature.
type keySet struct{ remote *oidc.RemoteKeySet }

func newKeySet(cfg VerifyConfig) *keySet {
	client := http.Client{}
	if cfg.Client != nil {
		client = *cfg.Client
	}
	if client.Timeout == 0 {
		client.Timeout = fetchTimeout
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = &calmTransport{next: next, now: cfg.Now}
	return &keySet{remote: oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), &client), cfg.JWKSURL)}
}

// VerifySignature returns the payload of a token. A failed fetch is left with the request's context.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, token)
	// The library wraps only the errors of a fetch.
	if cause := errors.Unwrap(err); cause != nil {
		if f, ok := ctx.Value(fetchKey{}).(*fetch); ok {
			f.err = cause
		}
	}
	return payload, err
}

// calmTransport bounds what a fetch reads, and answers from memory for a short while after a good one.
type calmTransport struct {
	next http.RoundTripper
	now  func() time.Time

	mu      sync.Mutex
	fetched time.Time // zero: nothing to repeat
	status  int
	header  http.Header
	body    []byte
}

// RoundTrip fetches the keys, or repeats the last answer.
func (c *calmTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A clock that was set back must not make an old answer last.
	if age := c.now().Sub(c.fetched); c.fetched.IsZero() || age < 0 || age >= fetchPause {
		if err := c.fetch(req); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		Status: http.StatusText(c.status), StatusCode: c.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.header.Clone(), Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: req,
	}, nil
}

func (c *calmTransport) fetch(req *http.Request) error {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostKeys))
	if err != nil {
		return err
	}
	c.status, c.header, c.body = resp.StatusCode, resp.Header, body
	c.fetched = time.Time{}
	if resp.StatusCode == http.StatusOK {
		c.fetched = c.now()
	}
	return nil
}
