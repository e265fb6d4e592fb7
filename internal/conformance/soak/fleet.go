package soak

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
)

// fleet is the processes that take deliveries, and what befalls them.
type fleet struct {
	subject *process.Subject
	config  process.Config
	tell    func(process.Event)
	random  *rand.Rand // chaos alone draws from it

	kills, ends, stops atomic.Int64

	mu   sync.Mutex
	live []*process.Process
	gone sync.WaitGroup // processes that were told to end
}

// add starts one process more.
func (f *fleet) add() error {
	p, err := f.subject.Launch(f.config, process.OnEvent(f.tell))
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.live = append(f.live, p)
	f.mu.Unlock()
	return nil
}

// pick returns a process that was not told to end, stopped or not.
func (f *fleet) pick(n int) *process.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live[n%len(f.live)]
}

// take removes a process from those that get deliveries.
func (f *fleet) take() *process.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.random.IntN(len(f.live))
	p := f.live[i]
	f.live = slices.Delete(f.live, i, i+1)
	return p
}

// chaos kills, ends and stops processes until stop is closed. A process that goes is replaced before, as a platform would.
func (f *fleet) chaos(stop <-chan struct{}) error {
	for pause(stop, time.Duration(20+f.random.IntN(130))*time.Millisecond) {
		var err error
		switch n := f.random.IntN(10); {
		case n < 5:
			err = f.kill()
		case n < 7:
			err = f.end()
		default:
			err = f.freeze(stop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) kill() error {
	if err := f.add(); err != nil {
		return err
	}
	f.take().Kill()
	f.kills.Add(1)
	return nil
}

// end sends SIGTERM and goes on; the process gets deliveries no more.
func (f *fleet) end() error {
	if err := f.add(); err != nil {
		return err
	}
	p := f.take()
	f.ends.Add(1)
	f.gone.Go(func() {
		select {
		case <-p.Exited():
		case <-time.After(10 * time.Second):
			p.Kill()
		}
	})
	return p.Signal(syscall.SIGTERM)
}

// freeze stops a process for about as long as two leases; deliveries keep going to it.
func (f *fleet) freeze(stop <-chan struct{}) error {
	p := f.pick(f.random.IntN(1 << 16))
	f.stops.Add(1)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	pause(stop, lease/2+time.Duration(f.random.Int64N(int64(2*lease))))
	return p.Signal(syscall.SIGCONT)
}

// close ends all processes.
func (f *fleet) close() {
	f.mu.Lock()
	live := f.live
	f.live = nil
	f.mu.Unlock()
	for _, p := range live {
		p.Kill()
	}
	f.gone.Wait()
}

// pause waits; false when stop was closed.
func pause(stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-stop:
		return false
	case <-timer.C:
		return true
	}
}
