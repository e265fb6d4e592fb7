package claim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	defaultStoreTimeout = 2 * time.Second
	// finishTries is how many store timeouts the end of an attempt may take to be recorded.
	finishTries = 5
	// maxLostSwaps is how often a claim is decided anew after it lost a swap.
	maxLostSwaps = 3
)

// Claimer gives runs to attempts. Its methods are safe for concurrent use; one serves a process.
type Claimer struct {
	backend Store
	caps    Caps
	clock   clock
	log     *slog.Logger
	holder  string
	timeout time.Duration
	watch   Observer

	background context.Context //nolint:containedctx // of what goes on after a delivery was answered
	stop       context.CancelCauseFunc

	mu       sync.Mutex
	closing  bool
	active   int           // deliveries and background work
	idle     chan struct{} // closed when closing and nothing is active
	attempts map[*Attempt]struct{}

	unseen unseen
}

// Option changes a Claimer.
type Option func(*Claimer)

// WithLogger logs to l. Default: slog.Default().
func WithLogger(l *slog.Logger) Option { return func(c *Claimer) { c.log = l } }

// WithClock takes the wall clock from now, for tests; monotonic time and timers stay those of the time package.
func WithClock(now func() time.Time) Option { return func(c *Claimer) { c.clock.now = now } }

// WithStoreTimeout bounds each call to the store, and a claim as a whole. Default: 2 s.
func WithStoreTimeout(d time.Duration) Option { return func(c *Claimer) { c.timeout = d } }

// WithHolder names this process in records. Default: host name and process id.
func WithHolder(name string) Option { return func(c *Claimer) { c.holder = clip(name) } }

// WithObserver tells o what happens.
func WithObserver(o Observer) Option { return func(c *Claimer) { c.watch = o } }

// New returns a Claimer over store, which stays the caller's to close.
func New(store Store, opts ...Option) *Claimer {
	c := &Claimer{
		backend:  store,
		caps:     store.Caps(),
		log:      slog.Default(),
		timeout:  defaultStoreTimeout,
		idle:     make(chan struct{}),
		attempts: make(map[*Attempt]struct{}),
		unseen:   unseen{added: make(chan struct{}, 1)},
	}
	c.background, c.stop = context.WithCancelCause(context.Background())

	for _, opt := range opts {
		opt(c)
	}

	if c.holder == "" {
		host, _ := os.Hostname() // a name for people: none is as good as an error
		c.holder = clip(fmt.Sprintf("%s/%d", host, os.Getpid()))
	}

	if s, ok := store.(OffsetStore); ok {
		if offset, known := s.Offset(); known {
			c.clock.offset.Store(offset.Microseconds())
		}
	}

	return c
}

// Now returns the store's time, by one read of the record id, whether or not there is one.
func (c *Claimer) Now(ctx context.Context, id string) (time.Time, error) {
	snap, err := c.get(ctx, id)
	if err != nil && (!errors.Is(err, ErrNotFound) || snap.Now.IsZero()) {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", err)
	}

	return snap.Now, nil
}

// Offset returns the store's clock minus the local one, as the latest answer showed it. Zero until the first.
func (c *Claimer) Offset() time.Duration { return microseconds(c.clock.offset.Load()) }

// Shutdown ends the Claimer: from now on nothing is claimed, and the contexts of running works end with the cause [ErrShutdown]. It
// returns when all have returned and are recorded, or with an error when ctx ends; what has not returned by then is left alone, and
// its lease lapses.
func (c *Claimer) Shutdown(ctx context.Context) error {
	c.mu.Lock()

	if !c.closing {
		c.closing = true
		if c.active == 0 {
			close(c.idle)
		}
	}

	running := make([]*Attempt, 0, len(c.attempts))
	for a := range c.attempts {
		running = append(running, a)
	}

	c.mu.Unlock()

	for _, a := range running {
		a.ctx.cancel(ErrShutdown)
	}

	c.unseen.hasten()

	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
	}

	c.stop(ErrShutdown)
	c.mu.Lock()
	left := c.active
	c.mu.Unlock()

	if left == 0 {
		return nil
	}

	return fmt.Errorf("%d of the running attempts did not end in time, their leases will lapse: %w", left, context.Cause(ctx))
}

// enter counts something as active; false when shutting down.
func (c *Claimer) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closing {
		return false
	}

	c.active++

	return true
}

// stay counts background work that an active delivery leaves behind.
func (c *Claimer) stay() {
	c.mu.Lock()
	c.active++
	c.mu.Unlock()
}

func (c *Claimer) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.active--
	if c.closing && c.active == 0 {
		close(c.idle)
	}
}

// shutting reports whether Shutdown was called.
func (c *Claimer) shutting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.closing
}

// hold registers a running attempt; false when shutting down.
func (c *Claimer) hold(a *Attempt) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closing {
		return false
	}

	c.attempts[a] = struct{}{}

	return true
}

func (c *Claimer) drop(a *Attempt) {
	c.mu.Lock()
	delete(c.attempts, a)
	c.mu.Unlock()
}

func (c *Claimer) observe(ctx context.Context, e Event) {
	if c.watch == nil {
		return
	}

	defer func() { // a run must not be left to its lease for it
		if v := recover(); v != nil {
			c.log.Error("observer panicked", "event", string(e.Kind), "run", e.Run, "panic", fmt.Sprint(v))
		}
	}()

	e.Store = c.caps.Store
	c.watch.Observe(ctx, e)
}

// newAttemptID returns 128 random bits in hex.
func newAttemptID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead

	var text [2 * len(b)]byte

	hex.Encode(text[:], b[:])

	return string(text[:])
}
