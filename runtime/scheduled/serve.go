package scheduled

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/serving"
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

// Serve answers deliveries on PORT, or 8080, until the context ends or the process gets SIGTERM or SIGINT. Then nothing is claimed
// any more, running works see their contexts end, and Serve returns when they have returned and their replies are out, or when the
// grace is over. Nil: all ended well. GET /healthz is answered 200 while it serves and 503 from then on.
func Serve(ctx context.Context, h *Handler, cfg ServeConfig) error {
	var next http.Handler = h
	if cfg.Wrap != nil {
		next = cfg.Wrap(h)
	}
	return serving.Run(ctx, serving.Config{
		Handler: next, Health: isHealthCheck, Shutdown: h.Shutdown, Getenv: cfg.Getenv, Listener: cfg.Listener,
		Grace: cmp.Or(cfg.Grace, h.cfg.ShutdownGrace), Logger: h.cfg.Logger,
	})
}

// isHealthCheck tells health checks from deliveries: one to the same path stays a delivery.
func isHealthCheck(r *http.Request) bool {
	return serving.IsHealthCheck(r) && len(readHeaders(r.Header).scheduler) == 0
}
