package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Config says what [Run] serves. Handler is required.
type Config struct {
	// Handler answers everything but health checks.
	Handler http.Handler
	// Health reports whether a request is a health check: by default a GET or HEAD of /healthz.
	Health func(*http.Request) bool
	// Background are works beside the requests, such as a loop. Each gets a context that ends when the process is told to end, and is
	// waited for. One that returns an error ends the server; one that returns nil does not. Run returns the error of one that had
	// been told to end, too, unless it matches context.Canceled.
	Background []func(context.Context) error
	// Shutdown ends the work that replies wait for, and returns when it has ended or its context has. Nil: requests are waited for as
	// they are.
	Shutdown func(context.Context) error
	// Getenv reads PORT and IDEMPOTENT_SHUTDOWN_GRACE. Nil: os.Getenv.
	Getenv func(string) string
	// Listener is listened on instead of PORT. Run closes it.
	Listener net.Listener
	// Grace is how long running work may take to end. Zero: what the environment says.
	Grace time.Duration
	// Logger gets a line at the start and at the end. Nil: slog.Default().
	Logger *slog.Logger
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader leaves room above the 80 KB that Cloud Scheduler sends at most.
	maxHeader = 128 << 10
)

// Run answers requests on PORT, or 8080, until the context ends, the process gets SIGTERM or SIGINT, or a background work fails. Then
// health checks are answered 503, background works see their contexts end, Shutdown is called, and Run returns when all have returned
// and replies are out, or when the grace is over. Nil: all ended well.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.complete(); err != nil {
		return err
	}
	listener, err := cfg.listen(ctx)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	s := &service{Config: cfg, failed: make(chan error, 1+len(cfg.Background)), late: make(chan error, len(cfg.Background)), ended: make(chan struct{})}
	server := s.server()
	go func() { s.failed <- fmt.Errorf("serve: %w", server.Serve(listener)) }()
	cfg.Logger.InfoContext(ctx, "listening", "address", listener.Addr().String())
	background, cancel := context.WithCancel(ctx)
	defer cancel()
	s.start(background)
	select {
	case err = <-s.failed:
	case <-ctx.Done():
	}
	// From here on a second signal ends the process at once.
	stop()
	cancel()
	return errors.Join(err, s.end(ctx, server))
}

func (c *Config) complete() error {
	if c.Handler == nil {
		return errors.New("serve: Handler is missing")
	}
	if c.Health == nil {
		c.Health = IsHealthCheck
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	var err error
	if c.Grace == 0 {
		c.Grace, err = Grace(c.Getenv)
	}
	return err
}

// IsHealthCheck reports whether a request is a GET or HEAD of /healthz.
func IsHealthCheck(r *http.Request) bool {
	return r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

func (c *Config) listen(ctx context.Context) (net.Listener, error) {
	if c.Listener != nil {
		return c.Listener, nil
	}
	port, err := Port(c.Getenv)
	if err != nil {
		return nil, err
	}
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on the port in %s, %d by default: %w", run.EnvPort, DefaultPort, err)
	}
	return listener, nil
}

// service is what runs.
type service struct {
	Config

	ending atomic.Bool
	failed chan error    // the server's end, and errors of background works
	late   chan error    // errors of background works that were told to end
	ended  chan struct{} // closed when all background works have returned
}

// start starts the background works.
func (s *service) start(ctx context.Context) {
	running := int64(len(s.Background))
	if running == 0 {
		close(s.ended)
		return
	}
	var left atomic.Int64
	left.Store(running)
	for _, work := range s.Background {
		go func() {
			switch err := work(ctx); {
			case err == nil:
			case ctx.Err() == nil:
				s.failed <- err
			case !errors.Is(err, context.Canceled): // which would say no more than that it was told to end
				s.late <- err
			}
			if left.Add(-1) == 0 {
				close(s.ended)
			}
		}()
	}
}

// end shuts the work and the server down side by side: the one ends what the other waits for.
func (s *service) end(ctx context.Context, server *http.Server) error {
	s.ending.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	s.Logger.InfoContext(ctx, "shutting down", "grace", s.Grace)
	replies := make(chan error, 1)
	go func() { replies <- server.Shutdown(ctx) }()
	var err error
	if s.Shutdown != nil {
		err = s.Shutdown(ctx)
	}
	err = errors.Join(err, <-replies)
	select {
	case <-s.ended:
		for range len(s.late) {
			err = errors.Join(err, <-s.late)
		}
	case <-ctx.Done():
		err = errors.Join(err, errors.New("background work goes on"))
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("shut down within %v: %w", s.Grace, err), server.Close())
	}
	return err
}

func (s *service) server() *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // what Cloud Run sends when HTTP/2 is on end to end
	return &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Protocols: protocols, ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
	}
}

// serve answers health checks before anything else.
func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case !s.Health(r):
		s.Handler.ServeHTTP(w, r)
	case s.ending.Load():
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	}
}
