package serving_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/serving"
)

// served is a server that runs in a test.
type served struct {
	url  string
	stop context.CancelFunc
	done chan error
}

func start(t *testing.T, cfg serving.Config) served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listener, cfg.Logger, cfg.Getenv = listener, slog.New(slog.DiscardHandler), func(string) string { return "" }
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	s := served{"http://" + listener.Addr().String(), stop, make(chan error, 1)}
	go func() { s.done <- serving.Run(ctx, cfg) }()
	return s
}

func (s served) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(body)
}

func hello() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
}

func TestRequestsAndHealthChecksAreAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, serving.Config{Handler: hello()})
	if status, body := s.get(t, "/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("GET /healthz: %d %q", status, body)
	}
	if status, body := s.get(t, "/a"); status != 200 || body != "/a" {
		t.Errorf("GET /a: %d %q", status, body)
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

func TestTheEndWaitsForWorkAndReplies(t *testing.T) {
	t.Parallel()
	begun, told := make(chan struct{}), make(chan struct{})
	var order bytes.Buffer
	var mu sync.Mutex
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		order.WriteString(s)
	}
	s := start(t, serving.Config{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-told
			_, _ = io.WriteString(w, "done")
		}),
		Background: []func(context.Context) error{
			func(ctx context.Context) error { <-ctx.Done(); note("loop "); return ctx.Err() },
			func(context.Context) error { return nil },
		},
		Shutdown: func(context.Context) error { close(told); note("shutdown "); return nil },
	})
	go func() { <-begun; s.stop() }()
	if status, body := s.get(t, "/"); status != 200 || body != "done" {
		t.Errorf("the running request got %d %q", status, body)
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	if got := order.String(); !strings.Contains(got, "loop ") || !strings.Contains(got, "shutdown ") {
		t.Errorf("ended: %s", got)
	}
}

func TestABackgroundWorkThatFailsEndsTheServer(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := start(t, serving.Config{Handler: hello(), Background: []func(context.Context) error{func(context.Context) error { return broken }}})
	if err := <-s.done; !errors.Is(err, broken) {
		t.Errorf("Run returned %v", err)
	}
}

func TestWorkThatDoesNotEndIsReported(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	s := start(t, serving.Config{
		Handler: hello(), Grace: 20 * time.Millisecond,
		Background: []func(context.Context) error{func(context.Context) error { <-over; return nil }},
	})
	s.stop()
	if err := <-s.done; err == nil || !strings.Contains(err.Error(), "shut down within 20ms: background work goes on") {
		t.Errorf("Run returned %v", err)
	}
}

func TestUnusableEnvironmentsAreRefused(t *testing.T) {
	t.Parallel()
	for variable, test := range map[string][2]string{
		run.EnvPort:          {"0", `environment variable PORT is "0": set it to a TCP port from 1 to 65535`},
		run.EnvShutdownGrace: {"soon", `environment variable IDEMPOTENT_SHUTDOWN_GRACE is "soon": set it to a duration such as 8s, above zero and at most 1h0m0s`},
	} {
		err := serving.Run(t.Context(), serving.Config{Handler: hello(), Getenv: func(name string) string {
			if name == variable {
				return test[0]
			}
			return ""
		}})
		if err == nil || err.Error() != test[1] {
			t.Errorf("%s: %v", variable, err)
		}
	}
	if err := serving.Run(t.Context(), serving.Config{}); err == nil {
		t.Error("no handler: accepted")
	}
}

func TestABackgroundWorkThatFailsAtItsEndIsReported(t *testing.T) {
	t.Parallel()
	left := errors.New("something was left")
	s := start(t, serving.Config{Handler: hello(), Background: []func(context.Context) error{
		func(ctx context.Context) error { <-ctx.Done(); return left },
	}})
	s.stop()
	if err := <-s.done; !errors.Is(err, left) {
		t.Errorf("Run returned %v", err)
	}
	s = start(t, serving.Config{Handler: hello(), Background: []func(context.Context) error{
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	}})
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("a work that only says that it was told to end: %v", err)
	}
}
