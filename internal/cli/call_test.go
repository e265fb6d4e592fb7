package cli_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// called runs the command line.
func called(t *testing.T, stdin string, args ...string) (out, log string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := cli.New("0.3.1")
	root.SetArgs(append([]string{"call"}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// payments is an API under guard that counts its effects; lose drops so many replies.
func payments(t *testing.T, lose int32) (url string, effects *atomic.Int32) {
	t.Helper()
	effects = new(atomic.Int32)
	var lost atomic.Int32
	guard, err := idempotencykey.New(idempotencykey.Config{
		Store: memclaim.New(), RequireKey: true, Logger: slog.New(slog.DiscardHandler),
		Scope: func(*http.Request) (string, error) { return "acme", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	api := guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		effects.Add(1)
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(append(b, " "+r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type")...))
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lost.Add(1) <= lose {
			api.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, effects
}

func TestACallIsRepeatedUntilItIsSettled(t *testing.T) {
	t.Parallel()
	url, effects := payments(t, 2)
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("Authorization: Bearer s3cret\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, log, err := called(t, `{"amount":1}`, url, "--data", "-", "--header", "@"+headers)
	if err != nil || out != `{"amount":1} Bearer s3cret application/json` || effects.Load() != 1 {
		t.Errorf("printed %q after %d effects, %v", out, effects.Load(), err)
	}
	if want := regexp.MustCompile(`^idempotency key: [0-9a-f-]{36}\n201 Created, sent 3 times, replayed: the operation was carried out before\n$`); !want.MatchString(log) {
		t.Errorf("log %q", log)
	}
}

func TestSeparateCallsShareAnOperationByItsKey(t *testing.T) {
	t.Parallel()
	url, effects := payments(t, 0)
	args := []string{url, "-X", "PUT", "-d", "x", "-H", "Content-Type: text/plain", "--idempotency-key", "deploy-7"}
	for _, want := range []string{"201 Created\n", "201 Created, replayed: the operation was carried out before\n"} {
		if out, log, err := called(t, "", args...); err != nil || out != "x  text/plain" || log != want {
			t.Errorf("printed %q, %q, %v; want %q", out, log, err, want)
		}
	}
	if _, _, err := called(t, "", url); err != nil || effects.Load() != 2 {
		t.Errorf("a call with a fresh key: %v, %d effects", err, effects.Load())
	}
	args[4] = "y"
	if out, _, err := called(t, "", args...); err == nil || err.Error() != "the API answered 409 Conflict" || !strings.Contains(out, `"reused"`) {
		t.Errorf("another body: %q, %v", out, err)
	}
}

func TestACallWhoseOutcomeIsUnknownSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	url, _ := payments(t, 1000)
	withPassword := strings.Replace(url, "http://", "http://user:s3cret@", 1)
	_, _, err := called(t, "", withPassword, "--attempts", "2", "--idempotency-key", "it's")
	if err == nil || !strings.Contains(err.Error(), `the request may have taken effect: call again with --idempotency-key 'it'\''s'`) ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestACallThatCannotBeMadeSendsNothing(t *testing.T) {
	t.Parallel()
	url, effects := payments(t, 0)
	broken := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(broken, []byte("A: 1\ns3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"URL is missing: give the address":                    {},
		"there are 2 arguments where one is taken":            {url, "x"},
		`--method is "GET"`:                                   {url, "-X", "GET"},
		"--attempts must be positive":                         {url, "--attempts", "0"},
		"--timeout is 1m0s, it must be less than the":         {url, "--timeout", "60s", "--window", "60s"},
		"--idempotency-key: invalid idempotency key: it is":   {url, "--idempotency-key", ""},
		"--idempotency-key: idempotency key too long":         {url, "--idempotency-key", strings.Repeat("k", 256)},
		"the URL cannot be used":                              {"user:s3cret@api"},
		"--data: open ":                                       {url, "--data", "@" + filepath.Join(t.TempDir(), "none")},
		"--header 1, line 1: write a header as 'Name: value'": {url, "-H", "s3cret"},
		"headers, line 2: write a header as":                  {url, "-H", "@" + broken},
		"the key goes into --idempotency-key":                 {url, "-H", "idempotency-key: k"},
	} {
		_, log, err := called(t, "", args...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error()+log, "s3cret") {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
	if effects.Load() != 0 {
		t.Errorf("%d effects", effects.Load())
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	if _, _, err := called(t, "", closed.URL, "--attempts", "1"); err == nil || !strings.HasPrefix(err.Error(), "nothing was carried out: ") {
		t.Errorf("nobody listens: %v", err)
	}
}
