package localcloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc"
)

// Cloud is a running local cloud. Its methods are safe for concurrent use.
type Cloud struct {
	cfg       Config
	listener  net.Listener
	http      *http.Server
	grpc      *grpc.Server
	scheduler *scheduler
	fields    *fields
	issuer    *issuer
	calls     *apiLog
	watcher   *watcher
	keeper    *keeper
	fronts    []*front
	pages     atomic.Int64 // that watch

	stopContext func() bool
	closing     sync.Once
	closed      error // set once closing is done
	serving     sync.WaitGroup
}

// Start serves a local cloud until [Cloud.Close] is called or ctx ends, which closes it just the same.
func Start(ctx context.Context, cfg Config) (*Cloud, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", cfg.Listen, err)
	}

	c := &Cloud{cfg: cfg, listener: listener, calls: newAPILog(cfg)}
	c.issuer = &issuer{url: c.URL()}
	c.scheduler = newScheduler(cfg, c.issuer)
	c.fields = newFields(cfg)
	c.watcher = newWatcher(cfg.Store)

	err = c.begin()
	if err != nil {
		c.scheduler.close(0)

		return nil, errors.Join(err, c.keeper.close(), listener.Close())
	}

	c.stopContext = context.AfterFunc(ctx, c.shutdown)

	return c, nil
}

// begin brings back the state and starts everything that runs beside the calls.
func (c *Cloud) begin() error {
	if c.cfg.StateFile != "" {
		var err error

		c.keeper, err = newKeeper(c.cfg.StateFile, c)
		if err != nil {
			return err
		}

		c.calls.changed = c.keeper.changed
	}

	err := c.openFronts()
	if err != nil {
		return err
	}

	err = c.serve()
	if err != nil {
		return errors.Join(err, c.closeFronts())
	}

	c.watch(c.scheduler.ctx)

	return nil
}

// watch starts what keeps the page supplied, and the state file up to date.
func (c *Cloud) watch(ctx context.Context) {
	if c.keeper != nil {
		c.serving.Go(func() { c.keeper.run(ctx) })
	}

	if c.cfg.Store != nil {
		c.serving.Go(func() { c.watcher.run(ctx, c.scheduler.deliveries) })
	}
}

// Addr is the host and port that the cloud serves on.
func (c *Cloud) Addr() string { return c.listener.Addr().String() }

// URL is the base URL of everything that the cloud serves, without a slash at its end. A cloud that listens on all addresses is named
// by its loopback address.
func (c *Cloud) URL() string {
	host, port, err := net.SplitHostPort(c.Addr())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return "http://" + net.JoinHostPort("127.0.0.1", port)
	}

	return "http://" + c.Addr()
}

// Close ends the cloud: nothing fires any more, deliveries and calls in flight may end within Config.Grace and are cut then. It
// returns once everything has ended, and may be called again.
func (c *Cloud) Close() error {
	c.stopContext()
	c.shutdown()

	return c.closed
}

// shutdown is what Close does. Whoever comes second waits for the first.
func (c *Cloud) shutdown() {
	c.closing.Do(func() {
		deadline := time.Now().Add(c.cfg.Grace)
		c.scheduler.close(c.cfg.Grace)

		ctx, cancel := context.WithDeadline(context.Background(), deadline.Add(time.Second))
		defer cancel()

		err := c.http.Shutdown(ctx)
		if err != nil {
			err = c.http.Close()
		}

		c.grpc.Stop()

		err = errors.Join(err, c.closeFronts())
		c.serving.Wait()
		err = errors.Join(err, c.keeper.save(), c.keeper.close())

		if err != nil {
			c.closed = fmt.Errorf("close %s: %w", c.Addr(), err)
		}
	})
}

// Job returns the stored job of a full name or a unique short id.
func (c *Cloud) Job(name string) (*schedulerpb.Job, error) { return c.scheduler.find(name) }

// EditJob changes a stored job behind the back of its clients, as a colleague at the console would: nothing is validated, filled in
// or logged. A changed schedule takes effect.
func (c *Cloud) EditJob(name string, change func(*schedulerpb.Job)) error {
	defer c.keeper.changed()

	return c.scheduler.drift(name, change)
}

// matchesJob says whether a full name or short id, empty for any, means the job of a full name.
func matchesJob(asked, name string) bool {
	return asked == "" || asked == name || strings.HasSuffix(name, "/jobs/"+asked)
}
