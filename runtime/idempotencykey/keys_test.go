package idempotencykey_test

import (
	"context"
	"errors"
	"net/http"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestAKeyComesFromTheRequestOrItsContext(t *testing.T) {
	runID := strings.Repeat("ab", 32)
	inRun := func(ctx context.Context) context.Context {
		ctx, err := idempotencykey.WithRun(run.NewContext(ctx, &run.Run{ID: runID}))
		if err != nil {
			t.Fatal(err)
		}
		return ctx
	}
	for name, tt := range map[string]struct {
		ctx    func(context.Context) context.Context
		header string
		quoted bool
		want   string
	}{
		"stable key": {func(ctx context.Context) context.Context {
			return idempotencykey.WithKey(ctx, "welcome-user/usr_abc123")
		}, "", false, "welcome-user/usr_abc123"},
		"prefix and operation": {func(ctx context.Context) context.Context {
			return idempotencykey.WithOperation(idempotencykey.WithPrefix(ctx, "order-7"), "charge")
		}, "", false, "order-7/charge"},
		"run and operation": {func(ctx context.Context) context.Context {
			return idempotencykey.WithOperation(inRun(ctx), "charge")
		}, "", false, runID + "/charge"},
		"the latest source": {func(ctx context.Context) context.Context {
			return idempotencykey.WithKey(idempotencykey.WithOperation(inRun(ctx), "charge"), "k")
		}, "", false, "k"},
		"the request's own":         {inRun, `"own"`, false, `"own"`},
		"quoted":                    {func(ctx context.Context) context.Context { return idempotencykey.WithKey(ctx, `a"b\`) }, "", true, `"a\"b\\"`},
		"quoted where bare misread": {func(ctx context.Context) context.Context { return idempotencykey.WithKey(ctx, `"a" `) }, "", false, `"\"a\" "`},
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, []func(*http.Request) (*http.Response, error){answer(201, "")}, func(c *call) {
				c.ctx, c.tr.Quoted = tt.ctx(c.ctx), tt.quoted
				if tt.header != "" {
					c.req = func(r *http.Request) { r.Header.Set("Idempotency-Key", tt.header) }
				}
				c.wantAnswer(201, 1)
				if c.wire.seen[0].key != tt.want {
					c.Errorf("key %s, want %s", c.wire.seen[0].key, tt.want)
				}
			})
		})
	}
}

func TestKeysThatCannotBeMadeAreErrorsBeforeAnythingIsSent(t *testing.T) {
	for name, tt := range map[string]struct {
		ctx  func(context.Context) context.Context
		want error
	}{
		"operation without a prefix":  {func(ctx context.Context) context.Context { return idempotencykey.WithOperation(ctx, "o") }, idempotencykey.ErrPrefixMissing},
		"prefix without an operation": {func(ctx context.Context) context.Context { return idempotencykey.WithPrefix(ctx, "p") }, idempotencykey.ErrOperationMissing},
		"too long": {func(ctx context.Context) context.Context {
			return idempotencykey.WithKey(ctx, strings.Repeat("k", 256))
		}, idempotencykey.ErrKeyTooLong},
		"line feed": {func(ctx context.Context) context.Context { return idempotencykey.WithKey(ctx, "a\nb") }, idempotencykey.ErrInvalidKey},
		"empty":     {func(ctx context.Context) context.Context { return idempotencykey.WithKey(ctx, "") }, idempotencykey.ErrInvalidKey},
		"too long with its operation": {func(ctx context.Context) context.Context {
			return idempotencykey.WithOperation(idempotencykey.WithPrefix(ctx, strings.Repeat("k", 250)), "charge")
		}, idempotencykey.ErrKeyTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			inCall(t, nil, func(c *call) {
				c.ctx = tt.ctx(c.ctx)
				if _, err := c.do(); !errors.Is(err, tt.want) || len(c.wire.seen) != 0 {
					c.Errorf("got %v, want %v", err, tt.want)
				}
			})
		})
	}
	if _, err := idempotencykey.WithRun(t.Context()); !errors.Is(err, idempotencykey.ErrPrefixMissing) {
		t.Errorf("without a run: %v", err)
	}
}

func TestAnOperationNameServesOneRequest(t *testing.T) {
	inCall(t, []func(*http.Request) (*http.Response, error){answer(201, "")}, func(c *call) {
		prefixed := idempotencykey.WithPrefix(c.ctx, "p")
		c.ctx = idempotencykey.WithOperation(prefixed, "charge")
		c.wantAnswer(201, 1)
		if _, err := c.do(); !errors.Is(err, idempotencykey.ErrOperationUsed) || !strings.Contains(err.Error(), `"charge"`) {
			c.Errorf("second use: %v", err)
		}
		c.ctx = idempotencykey.WithOperation(prefixed, "mail")
		c.wantAnswer(201, 2)
	})
}

func TestNewKeysAreUUIDs(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 100 {
		key := idempotencykey.NewKey()
		if !form.MatchString(key) || seen[key] {
			t.Errorf("key %s", key)
		}
		seen[key] = true
	}
}

func TestAMailCarriesTheKey(t *testing.T) {
	t.Parallel()
	header := mail.Header{}
	key, err := idempotencykey.SetMailHeader(idempotencykey.WithKey(t.Context(), "welcome-user/usr_abc123"), header, "X-Bird-Idempotency-Key")
	if err != nil || key != "welcome-user/usr_abc123" || header.Get("X-Bird-Idempotency-Key") != key {
		t.Errorf("key %q, header %v, %v", key, header, err)
	}
	parts := textproto.MIMEHeader{}
	if key, err := idempotencykey.SetMailHeader(t.Context(), parts, "x-key"); err != nil || len(key) != 36 || parts.Get("X-Key") != key {
		t.Errorf("key %q, header %v, %v", key, parts, err)
	}
	ctx := idempotencykey.WithOperation(idempotencykey.WithPrefix(t.Context(), "p"), "mail")
	for _, want := range []error{nil, idempotencykey.ErrOperationUsed} {
		if _, err := idempotencykey.SetMailHeader(ctx, header, "X-Key"); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	for _, name := range []string{"", "X Key", "X-Key:", "X-Key\r\nBcc", "é"} {
		if _, err := idempotencykey.SetMailHeader(t.Context(), header, name); err == nil {
			t.Errorf("header name %q is accepted", name)
		}
	}
	if _, err := idempotencykey.SetMailHeader(idempotencykey.WithKey(t.Context(), "a\r\nBcc: x"), header, "X-Key"); !errors.Is(err, idempotencykey.ErrInvalidKey) {
		t.Errorf("line feed: %v", err)
	}
}
