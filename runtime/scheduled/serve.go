package scheduled

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// ServeConfig says how [Serve] listens. The zero value is right for Cloud Run and its like.
type ServeConfig struct {
	// Getenv reads PORT. Nil: os.Getenv.
	Getenv func(string) string
	// Listener is listened on instead of PORT. Serve closes it.
	Listener net.Listener
	// Grace is how long running work may take to end. Zero: the handler's own.
	Grace time.Duration
	// Wrap puts middleware around the handler, /healthz excluded. Nil: none.
	Wrap func(http.Handler) http.Handler
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader leaves room above the 80 KB that Cloud Scheduler sends at most.
	maxHeader = 128 << 10
)

// Serve answers deliveries on PORT, or 8080, until the context ends or the process gets SIGTERM or SIGINT. Then nothing is claimed
// any more, running works see their contexts end, and Serve returns when they have returned and their replies are out, or when the
// grace is over. Nil: all ended well. GET /healthz is answered 200 while it serves and 503 from then on.
func Serve(ctx context.Context, h *Handler, cfg ServeConfig) error {
	listener, err := cfg.listen(ctx)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	server := cfg.server(h)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	h.cfg.Logger.InfoContext(ctx, "listening", "address", listener.Addr().String())
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serve: %w", err), h.end(ctx, server, cfg.Grace))
	case <-ctx.Done():
	}
	// From here on a second signal ends the process at once.
	stop()
	return h.end(ctx, server, cfg.Grace)
}

// end shuts the handler and the server down side by side: the one ends the works that the other waits for.
func (h *Handler) end(ctx context.Context, server *http.Server, grace time.Duration) error {
	grace = cmp.Or(grace, h.cfg.ShutdownGrace)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	h.cfg.Logger.InfoContext(ctx, "shutting down", "grace", grace)
	replies := make(chan error, 1)
	go func() { replies <- server.Shutdown(ctx) }()
	err := errors.Join(h.Shutdown(ctx), <-replies)
	if err != nil {
		err = errors.Join(fmt.Errorf("shut down within %v: %w", grace, err), server.Close())
	}
	return err
}

func (c ServeConfig) listen(ctx context.Context) (net.Listener, error) {
	if c.Listener != nil {
		return c.Listener, nil
	}
	e := &environment{getenv: c.Getenv}
	if e.getenv == nil {
		e.getenv = os.Getenv
	}
	port := e.port()
	if err := errors.Join(e.problems...); err != nil {
		return nil, err
	}
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on the port in %s, %d by default: %w", run.EnvPort, defaultPort, err)
	}
	return listener, nil
}

func (c ServeConfig) server(h *Handler) *http.Server {
	var next http.Handler = h
	if c.Wrap != nil {
		next = c.Wrap(h)
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // what Cloud Run sends when HTTP/2 is on end to end
	return &http.Server{
		Handler: h.withHealth(next), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		Protocols: protocols, ErrorLog: slog.NewLogLogger(h.cfg.Logger.Handler(), slog.LevelWarn),
	}
}

// withHealth answers health checks before anything else. A delivery to the same path stays a delivery.
func (h *Handler) withHealth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if r.URL.Path != "/healthz" || !reads || len(readHeaders(r.Header).scheduler) > 0 {
			next.ServeHTTP(w, r)
			return
		}
		if h.shutting() {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
}
