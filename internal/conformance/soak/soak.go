package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
)

// Run soaks a store. It returns what occurred, and an error that says each thing that must not be, or what occurred too seldom.
func Run(ctx context.Context, s *process.Subject, cfg Config) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &driver{
		open: cfg.Open, epoch: time.Now().UTC().Add(-runUp).Truncate(time.Second), executed: map[string][]string{},
		random: rand.New(rand.NewPCG(cfg.Seed, 1)),
		// Connections are not kept: most processes do not live long.
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	f := &fleet{
		subject: s, tell: d.told, random: rand.New(rand.NewPCG(cfg.Seed, 2)),
		config: process.Config{Grace: 2 * time.Second, LoseReplies: cfg.LoseReplies, Unfenced: cfg.Unfenced},
	}
	d.fleet = f
	defer f.close()
	for range cfg.Processes {
		if err := f.add(); err != nil {
			return Counts{}, err
		}
	}

	stop := make(chan struct{})
	var broken error
	var chaos, callers sync.WaitGroup
	chaos.Go(func() { broken = f.chaos(stop) })
	for range 2 * cfg.Open {
		callers.Go(func() { d.work(ctx) })
	}
	long := cfg.enough(d, f)
	close(stop)
	chaos.Wait()
	// From here on nothing befalls the processes, so that what is under way must get done.
	d.stop()
	settled := make(chan struct{})
	go func() {
		callers.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(undoneFor):
		cancel()
		<-settled
	}
	f.close()

	counts := d.soFar()
	counts.Kills, counts.Ends, counts.Stops = int(f.kills.Load()), int(f.ends.Load()), int(f.stops.Load())
	if broken != nil {
		return counts, fmt.Errorf("after %v: %w", long, broken)
	}
	if err := d.judge(context.WithoutCancel(ctx), s); err != nil {
		return counts, err
	}
	if short := counts.short(cfg.Least); len(short) > 0 {
		d.problems = append(d.problems, fmt.Errorf("too little occurred in %v to prove anything: %s; want %d each", long,
			strings.Join(short, ", "), cfg.Least))
	}
	return counts, errors.Join(d.problems...)
}

// enough waits until the soak has lasted long enough and enough has occurred, or something is wrong. It returns how long it was.
func (cfg Config) enough(d *driver, f *fleet) time.Duration {
	began := time.Now()
	for {
		time.Sleep(100 * time.Millisecond)
		long := time.Since(began)
		counts := d.soFar()
		counts.Kills = int(f.kills.Load())
		switch {
		case d.troubled():
			return long
		case long >= cfg.Duration && len(counts.short(cfg.Least)) == 0, long >= cfg.Duration+cfg.Patience:
			return long
		}
	}
}
