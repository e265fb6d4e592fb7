package scheduled

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Handler is an http.Handler for the deliveries of Cloud Scheduler, by any method.
type Handler struct {
	cfg      Config
	claimer  *claim.Claimer
	before   *previous // nil: runs always had their names
	limits   limits
	own      *terms
	policies termsCache
	texts    sync.Pool // of *[]byte: replies that were sent

	mu        sync.Mutex
	closing   chan struct{}
	closed    bool
	unguarded sync.WaitGroup // works without a claim, and the purge
	expiry    expiry.Turn
}

// NewHandler returns a handler, or says everything that is wrong with its configuration. Its own policy is held against the limits
// at once.
func NewHandler(cfg Config) (*Handler, error) {
	options := make([]claim.Option, 0, 2+len(cfg.ClaimOptions))
	if cfg.Now != nil { // the Claimer reads the wall clock and the monotonic one in one go where they are one
		options = append(options, claim.WithClock(cfg.Now))
	}
	if err := cfg.fillIn(); err != nil {
		return nil, fmt.Errorf("scheduled handler: %w", err)
	}
	h := &Handler{
		cfg:     cfg,
		limits:  limits{requestTimeout: cfg.RequestTimeout, caps: cfg.Store.Caps()},
		closing: make(chan struct{}),
	}
	own, err := h.ownTerms()
	if err != nil {
		return nil, fmt.Errorf("scheduled handler: the handler's own policy: %w", err)
	}
	h.own = own
	options = append(append(options, claim.WithLogger(cfg.Logger)), cfg.ClaimOptions...)
	h.claimer = claim.New(cfg.Store, options...)
	h.before = newPrevious(cfg, options)
	return h, nil
}

// ownTerms are those of deliveries that bring no policy. What no header could say is refused here too.
func (h *Handler) ownTerms() (*terms, error) {
	policy := h.cfg.Policy
	if policy.Timeout == 0 {
		policy.Timeout = h.cfg.RequestTimeout
	}
	if _, err := run.ParsePolicy(policy.Encode()); err != nil {
		return nil, err
	}
	return h.limits.fill(policy)
}

// ServeHTTP answers one delivery.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	ctx := withTrace(r.Context(), r.Header)
	d, err := h.read(ctx, w, r, arrived)
	if err != nil {
		h.refuse(ctx, w, d, asRefusal(err))
		return
	}
	h.purge(d)
	if d.run.ScheduleTime.IsZero() {
		h.answer(w, d, h.runUnguarded(d))
		return
	}
	h.answer(w, d, h.claimAndWait(d))
}

// Shutdown ends the handler: deliveries from now on are answered 500 with nothing run, running works see their contexts end with the
// cause claim.ErrShutdown, and those that wait for another attempt stop waiting. It returns when all works have returned, or with an
// error when the context ends first; the leases of what still runs then lapse.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	err := errors.Join(h.claimer.Shutdown(ctx), h.before.shutdown(ctx))
	returned := make(chan struct{})
	go func() {
		h.unguarded.Wait()
		close(returned)
	}()
	select {
	case <-returned:
		return err
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("unguarded work did not return in time: %w", context.Cause(ctx)))
	}
}
