package process

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// Main runs the tests of a package and stops the engines they started; in a process that [Start] made it serves instead.
//
//	func TestMain(m *testing.M) { os.Exit(process.Main(m)) }
func Main(m *testing.M) int {
	text := os.Getenv(envConfig)
	if text == "" {
		return engines.Main(m)
	}
	var cfg Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		fmt.Fprintln(os.Stderr, "configuration of the process:", err)
		return 1
	}
	c := &child{out: json.NewEncoder(os.Stdout)}
	if err := c.serve(cfg); err != nil {
		c.tell(Event{Kind: EventStopped, Text: err.Error()})
		return 1
	}
	c.tell(Event{Kind: EventStopped})
	return 0
}

// child is the inside of a process.
type child struct {
	mu    sync.Mutex
	out   *json.Encoder
	world world
}

// tell writes one line. When nobody reads any more the process is about to end.
func (c *child) tell(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(e)
}

// Observe implements claim.Observer.
func (c *child) Observe(_ context.Context, e claim.Event) {
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	c.tell(Event{Kind: EventKind(e.Kind), Run: e.Run, Attempt: e.Attempt, AttemptID: e.AttemptID, Text: text})
}

// serve answers deliveries until SIGTERM, or until the parent is gone.
func (c *child) serve(cfg Config) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	ctx := context.Background()
	var err error
	if c.world, err = openWorld(ctx, cfg.Store, cfg.Effects); err != nil {
		return err
	}
	store := c.world.store
	if cfg.Unfenced {
		store = unfenced{store}
	}
	if cfg.LoseReplies > 0 {
		store = lossy{Store: store, likely: cfg.LoseReplies, tell: c.tell}
	}
	handler, err := scheduled.NewHandler(scheduled.Config{
		Work: c.work, Store: store, Caller: anybody{}, LocalCloud: true, ShutdownGrace: cfg.Grace,
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		ClaimOptions: []claim.Option{claim.WithObserver(c), claim.WithStoreTimeout(storeTimeout)},
	})
	if err != nil {
		return fmt.Errorf("make the handler: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	c.tell(Event{Kind: EventListening, Text: listener.Addr().String()})
	return scheduled.Serve(ctx, handler, scheduled.ServeConfig{Listener: listener})
}

// storeTimeout is longer than the default: a busy machine and a stopped writer are not what the tests are about.
const storeTimeout = 5 * time.Second

// anybody verifies every caller, so that the policy header of a delivery counts.
type anybody struct{}

func (anybody) Check(*http.Request) (caller.Caller, error) {
	account := "scheduler@" + Project + ".iam.gserviceaccount.com"
	return caller.Caller{Email: account, Subject: account, ProjectFromEmail: Project, Verified: true}, nil
}
