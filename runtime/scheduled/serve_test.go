package scheduled_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller/callertest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// server is a handler that Serve serves.
type server struct {
	*fixture

	url  string
	done chan error
	stop context.CancelFunc
}

func serve(t *testing.T, f *fixture, cfg scheduled.ServeConfig) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listener = listener
	ctx, stop := context.WithCancel(context.Background())
	s := &server{fixture: f, url: "http://" + listener.Addr().String(), done: make(chan error, 1), stop: stop}
	go func() { s.done <- scheduled.Serve(ctx, f.handler, cfg) }()
	t.Cleanup(stop)
	if status, body := s.get(t, "/healthz"); status != 200 || body != "ok\n" {
		t.Fatalf("GET /healthz: %d %s", status, body)
	}
	return s
}

func (s *server) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// post sends a delivery over the network.
func (s *server) post(t *testing.T, path string, at time.Time, change ...func(http.Header)) (int, string) {
	t.Helper()
	resp := s.send(t, http.MethodPost, path, at, change...)
	return resp.StatusCode, resp.Header.Get(run.HeaderOutcome)
}

// send sends a delivery over the network. The body of the response has been read.
func (s *server) send(t *testing.T, method, path string, at time.Time, change ...func(http.Header)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	r.Header = deliver(at, change...).Header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp
}

func TestServeAnswersDeliveriesAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	s := serve(t, f, scheduled.ServeConfig{Wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Wrapped", "1")
			next.ServeHTTP(w, r)
		})
	}})
	at := due()
	if status, outcome := s.post(t, "//odd//path/", at); status != 200 || outcome != "executed" {
		t.Errorf("got %d %s", status, outcome)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		if resp := s.send(t, method, "/healthz", at); resp.StatusCode != http.StatusOK || resp.Header.Get(run.HeaderOutcome) != "duplicate" || resp.Header.Get("X-Wrapped") != "1" {
			t.Errorf("a delivery by %s to the path of health checks got %s with %v", method, resp.Status, resp.Header)
		}
	}
	if status, _ := s.get(t, "/"); status != 400 {
		t.Errorf("a request that is no delivery got %d", status)
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeLetsRunningWorkReleaseItsRunAndReply(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	s := serve(t, f, scheduled.ServeConfig{})
	started := make(chan struct{})
	f.works(func(ctx context.Context) error { close(started); <-ctx.Done(); return context.Cause(ctx) })
	at := due()
	var one sync.WaitGroup
	one.Go(func() {
		if status, outcome := s.post(t, "/", at); status != 500 || outcome != "released" {
			t.Errorf("the running delivery got %d %s; want 500 released", status, outcome)
		}
	})
	<-started
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve returned %v", err)
	}
	one.Wait()
	_, id := nameOf(t, at, false)
	if snap, err := f.store.Get(t.Context(), id); err != nil || snap.Status != claim.StatusReleased {
		t.Errorf("the record is %s, %v; want released", snap.Status, err)
	}
}

func TestServeGivesUpOnWorkThatOutlivesTheGrace(t *testing.T) {
	t.Parallel()
	const grace = 50 * time.Millisecond
	for name, tt := range map[string]struct{ own, serve time.Duration }{
		"its own": {0, grace}, "the handler's": {grace, 0}, "its own before the handler's": {time.Hour, grace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testServeGivesUp(t, newFixture(t, func(c *scheduled.Config) { c.ShutdownGrace = tt.own }), tt.serve)
		})
	}
}

func testServeGivesUp(t *testing.T, f *fixture, grace time.Duration) {
	t.Helper()
	s := serve(t, f, scheduled.ServeConfig{Grace: grace})
	started, finish := make(chan struct{}), make(chan struct{})
	f.works(func(context.Context) error { close(started); <-finish; return nil })
	var one sync.WaitGroup
	at := due()
	one.Go(func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, nil)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header = deliver(at).Header
		if resp, err := http.DefaultClient.Do(r); err == nil {
			t.Errorf("the delivery was answered %s", resp.Status)
			_ = resp.Body.Close()
		}
	})
	<-started
	s.stop()
	if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve returned %v; want %v", err, context.DeadlineExceeded)
	}
	_, id := nameOf(t, at, false)
	if snap, err := f.store.Get(t.Context(), id); err != nil || snap.Status != claim.StatusInProgress {
		t.Errorf("the record is %s, %v; want it left in progress", snap.Status, err)
	}
	close(finish)
	one.Wait()
}

// The signal goes to this process, whose other servers would see it: not parallel.
func TestServeEndsOnSIGTERM(t *testing.T) {
	s := serve(t, newFixture(t, nil), scheduled.ServeConfig{})
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeRefusesAPortThatIsNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	err := scheduled.Serve(t.Context(), f.handler, scheduled.ServeConfig{Getenv: variables{run.EnvPort: "http"}.get})
	const want = `environment variable PORT is "http": set it to a TCP port from 1 to 65535`
	if err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	if err := scheduled.Serve(t.Context(), f.handler, scheduled.ServeConfig{Getenv: variables{run.EnvPort: strconv.Itoa(port)}.get}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v; want %v", err, syscall.EADDRINUSE)
	}
}

func TestConfigurationFromTheEnvironmentVerifiesRealTokens(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	const audience = "https://nightly.example.com"
	cfg, err := scheduled.FromEnv(variables{
		run.EnvProject: project, run.EnvAudiences: audience, run.EnvIssuer: issuer.URL(), run.EnvJWKS: issuer.JWKSURL(),
	}.get)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *scheduled.Config) { c.Caller, c.Project = cfg.Caller, cfg.Project })
	s := serve(t, f, scheduled.ServeConfig{})
	bearer := func(token string) func(http.Header) {
		return func(h http.Header) { h.Set("Authorization", "Bearer "+token) }
	}
	at := due()
	if status, outcome := s.post(t, "/", at, bearer(issuer.Token(t, account, audience))); status != 200 || outcome != "executed" {
		t.Errorf("a good token got %d %s", status, outcome)
	}
	for name, test := range map[string]struct {
		status int
		change func(http.Header)
	}{
		"no token":             {401, func(http.Header) {}},
		"another audience":     {401, bearer(issuer.Token(t, account, "https://other.example.com"))},
		"another caller":       {403, bearer(issuer.Token(t, "eve@evil.iam.gserviceaccount.com", audience))},
		"another's project":    {403, func(h http.Header) { bearer(issuer.Token(t, account, audience))(h); h.Set(run.HeaderProject, "evil") }},
		"no scheduler headers": {400, func(h http.Header) { bearer(issuer.Token(t, account, audience))(h); h.Del(run.HeaderJobName) }},
	} {
		if status, outcome := s.post(t, "/", at, test.change); status != test.status || outcome != "" {
			t.Errorf("%s got %d %q; want %d", name, status, outcome, test.status)
		}
	}
	if n := len(f.executions()); n != 1 {
		t.Errorf("the work was called %d times; want once", n)
	}
}
