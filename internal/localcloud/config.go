package localcloud

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// Config says how a [Cloud] runs. Its zero value is a silent cloud in real time on a free loopback port.
type Config struct {
	// Listen is the host and port to serve on; empty: a free port of 127.0.0.1.
	Listen string
	// AllowRemote permits a Listen address beyond loopback. Nothing there is protected by credentials.
	AllowRemote bool
	// Logger hears of each delivery; nil: nobody does.
	Logger *slog.Logger
	// Clock decides when jobs fire; nil: [RealClock]. Tokens are always stamped with real time.
	Clock Clock
	// Settle is how long [Cloud.Advance] waits, in real time, for the deliveries of a job before it moves time past them;
	// zero: until they end.
	Settle time.Duration
	// Grace is how long [Cloud.Close] lets deliveries and API calls in flight end before it cuts them; zero: 5 s.
	Grace time.Duration
	// MutationTime is how long one change of a job takes. Another change of the same job meanwhile is refused with ABORTED, as the
	// real server does; zero: changes take no time.
	MutationTime time.Duration
	// OperationTime is how long a change of a Firestore field runs as an operation; zero: 20 ms.
	OperationTime time.Duration
	// History is how many deliveries and how many API requests are remembered; zero: 10,000.
	History int
	// Store is where the handlers keep their claims: the page then shows the record of each run. Nil: it shows what answers tell.
	// The cloud only reads it and does not close it.
	Store claim.Store
	// StateFile keeps jobs, settings of fields and the clock in a file, and deliveries in a file beside it that ends in .deliveries,
	// across restarts; empty: they are gone with the cloud. A file is one cloud's at a time: a lock on a file beside it that ends in
	// .lock refuses a second, and lasts no longer than the process.
	StateFile string
	// Fronts stand before handlers as Cloud Run does; none: jobs reach their targets directly.
	Fronts []Front
	// AppEngine is the base URL that jobs with an App Engine target are sent to; empty: their deliveries fail.
	AppEngine string
}

const (
	defaultListen        = "127.0.0.1:0"
	defaultGrace         = 5 * time.Second
	defaultOperationTime = 20 * time.Millisecond
	defaultHistory       = 10_000
)

func (c Config) withDefaults() (Config, error) {
	c.Listen = cmp.Or(c.Listen, defaultListen)

	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	if c.Clock == nil {
		c.Clock = RealClock()
	}

	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"settle", c.Settle}, {"grace", c.Grace}, {"mutation time", c.MutationTime}, {"operation time", c.OperationTime},
	} {
		if d.value < 0 {
			return c, fmt.Errorf("%s is %s: it must not be negative", d.name, d.value)
		}
	}

	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.OperationTime = cmp.Or(c.OperationTime, defaultOperationTime)

	if c.History < 0 {
		return c, fmt.Errorf("history is %d: it must not be negative", c.History)
	}

	c.History = cmp.Or(c.History, defaultHistory)

	if c.AppEngine != "" {
		base, err := url.Parse(c.AppEngine)
		if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
			return c, fmt.Errorf("the App Engine address %q is no http or https URL: write it like http://127.0.0.1:8080", c.AppEngine)
		}
	}

	return c, c.checkListen()
}

// checkListen refuses addresses that would open the cloud to others by mistake.
func (c Config) checkListen() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen address %q is not of the form HOST:PORT: write it like 127.0.0.1:8795", c.Listen)
	}

	if c.AllowRemote || loopback.Host(host) {
		return nil
	}

	return fmt.Errorf("listen address %q is not a loopback address, and the local cloud asks nobody for credentials: "+
		"use 127.0.0.1, or allow remote clients explicitly", c.Listen)
}
