package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
)

// The defaults of WorkerConfig.
const (
	DefaultTimeout     = time.Minute
	DefaultMaxAttempts = 25 // with the default backoff: 16 hours
	DefaultConcurrency = 8
	DefaultPoll        = time.Second
	DefaultGrace       = 10 * time.Second
)

// maxHold is how long an event is hidden from other workers between being found and being claimed, which follows at once.
const maxHold = 5 * time.Second

// Work does what an event asks for. Nil: done. An error gives the event back, to be tried again after a backoff, unless it is marked:
// claim.Permanent gives the event up, [ErrSuperseded] completes it as superseded. A panic counts as an error. The context is that of
// claim.Claimer.Do: it ends before the lease does, and is what CompleteTx of the store packages and the guards of the inbox packages
// are called with.
type Work func(ctx context.Context, e Event) error

// WorkerConfig says what a [Worker] does. Inbox, and Work or Works, are required.
type WorkerConfig struct {
	// Inbox is where the events are. It stays the caller's to close.
	Inbox Inbox
	// Works are the works by source, Work is that of all other sources. An event of a source that has neither is given back like one
	// that failed: another version of the program may know it.
	Works map[string]Work
	Work  Work

	// Timeout is the longest an attempt may take. Default: 1 min.
	Timeout time.Duration
	// Lease is how long a dead attempt keeps its event; more than Timeout unless it is renewed. Default: Timeout + 30 s, or 60 s when
	// it is renewed.
	Lease time.Duration
	// Renew renews the lease while the work runs.
	Renew bool
	// MaxAttempts is after how many attempts an event is given up: it is dead then. Default: 25; negative: never.
	MaxAttempts int
	// Backoff is how long after a failed attempt the next one comes.
	Backoff Backoff

	// RetryHorizon is for how long the sender may repeat a delivery, the longest of all sources. Default: DefaultRetryHorizon.
	RetryHorizon time.Duration
	// Retention is how long completed events are kept, for their repetitions to be known; at least RetryHorizon + 1 h. Default: twice
	// that, one day at least. Undone and dead events are kept until they are completed.
	Retention time.Duration

	// Concurrency is how many works run at once. Default: 8.
	Concurrency int
	// Poll is how often an idle worker looks for events that are due. Default: 1 s.
	Poll time.Duration
	// Grace is how long the works that run may take to return when [Worker.Run] ends. Default: 10 s.
	Grace time.Duration
	// DrainFor bounds how long [Worker.Drain] goes on taking events, and DrainLimit how many it takes. Zero: no bound but the context's.
	DrainFor   time.Duration
	DrainLimit int

	// Logger gets failures and events that are given up, never a payload. Default: slog.Default().
	Logger *slog.Logger
	// ClaimOptions are passed to the claimer.
	ClaimOptions []claim.Option
}

// Worker does the works of the events in an inbox: in a loop ([Worker.Run]), or until nothing is due ([Worker.Drain]). Any number of
// workers, in any number of processes, share an inbox. Its methods are safe for concurrent use.
type Worker struct {
	cfg      WorkerConfig
	claimer  *claim.Claimer
	wake     chan struct{}
	stopping atomic.Bool
	expiry   expiry.Turn

	mu   sync.Mutex
	held map[string]time.Time // events not to be taken by this worker: while their work runs (zero), or until then
}

// NewWorker returns a worker, or an error that names the field of cfg which cannot be as it is.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	if cfg.Inbox == nil {
		return nil, errors.New("webhook worker: Inbox is missing: open one of the inbox packages")
	}
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("webhook worker: %w", err)
	}
	w := &Worker{cfg: cfg, wake: make(chan struct{}, 1), held: make(map[string]time.Time)}
	w.claimer = claim.New(rows{Inbox: cfg.Inbox, w: w}, append([]claim.Option{claim.WithLogger(cfg.Logger)}, cfg.ClaimOptions...)...)
	return w, nil
}

func (c *WorkerConfig) setDefaults() {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Lease = cmp.Or(c.Lease, claim.DefaultLease(c.Timeout, 0, c.Renew))
	c.MaxAttempts = cmp.Or(c.MaxAttempts, DefaultMaxAttempts)
	c.Backoff.Min = cmp.Or(c.Backoff.Min, min(DefaultMinBackoff, max(c.Backoff.Max, 0)))
	if c.Backoff.Max == 0 {
		c.Backoff.Min = cmp.Or(c.Backoff.Min, DefaultMinBackoff)
		c.Backoff.Max = max(DefaultMaxBackoff, c.Backoff.Min)
	}
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Poll = cmp.Or(c.Poll, DefaultPoll)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
}

func (c *WorkerConfig) check() (err error) {
	if c.Retention, err = retention(c.Retention, c.RetryHorizon); err != nil {
		return err
	}
	switch {
	case c.Work == nil && len(c.Works) == 0:
		return errors.New("Work and Works are missing: say what is to be done with an event")
	case c.Timeout < 0, c.Lease < 0, c.Concurrency < 0, c.Poll < 0, c.Grace < 0, c.DrainFor < 0, c.DrainLimit < 0:
		return errors.New("Timeout, Lease, Concurrency, Poll, Grace, DrainFor and DrainLimit must not be negative")
	case c.Backoff.Min < 0, c.Backoff.Max < c.Backoff.Min:
		return fmt.Errorf("Backoff is from %v to %v: Max must not be less than Min", c.Backoff.Min, c.Backoff.Max)
	case !c.Renew && c.Lease <= c.Timeout:
		return fmt.Errorf("Lease is %v, works may take %v: set a longer one, or Renew", c.Lease, c.Timeout)
	}
	for source, work := range c.Works {
		if work == nil {
			return fmt.Errorf("Works[%q] is nil", source)
		}
	}
	return nil
}

// Wake makes an idle loop look for due events at once. It returns at once.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run does the works of due events until ctx ends or Shutdown is called, Concurrency of them at a time. Then the contexts of the works that run end with the
// cause claim.ErrShutdown, and their events are given back, for another worker to take at once; that attempt does not count. Run
// returns nil when all have returned, or an error after Grace. The worker takes nothing any more after that.
func (w *Worker) Run(ctx context.Context) error {
	s := w.newSession(ctx, false)
	for !w.stopping.Load() && s.slot(ctx) {
		n, err := s.round(ctx, 0)
		if err != nil && ctx.Err() == nil {
			w.cfg.Logger.ErrorContext(ctx, "inbox not read, the next try follows", "error", err)
		}
		if n == 0 && !sleep(ctx, w.cfg.Poll, w.wake) {
			break
		}
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.cfg.Grace)
	defer cancel()
	if err := w.Shutdown(limited); err != nil {
		return err
	}
	s.running.Wait()
	return nil
}

// Shutdown ends the worker: from now on nothing is claimed, and the contexts of running works end with the cause claim.ErrShutdown. It
// returns when all have returned, or with an error when ctx ends.
func (w *Worker) Shutdown(ctx context.Context) error {
	w.stopping.Store(true)
	w.Wake()
	if err := w.claimer.Shutdown(ctx); err != nil {
		return fmt.Errorf("webhook worker: %w", err)
	}
	return nil
}

// storeTime is the store's time, as far as it is known.
func (w *Worker) storeTime() time.Time { return time.Now().Add(w.claimer.Offset()) }

// backoff is how long after its release an event is due. One that only a shutdown gave back is due at once.
func (w *Worker) backoff(r claim.Record) time.Duration {
	if w.stopping.Load() {
		return 0
	}
	return w.cfg.Backoff.After(r.Counted)
}
