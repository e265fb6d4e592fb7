package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startWithin bounds the wait for a process to listen.
const startWithin = time.Minute

// Process is a handler in a process of its own, seen from outside.
type Process struct {
	// URL is where it takes deliveries.
	URL string

	cmd    *exec.Cmd
	stdin  io.Closer
	log    logBuffer
	tell   func(Event)
	exited chan struct{} // closed when the process is gone and its events are read

	mu     sync.Mutex
	events []Event
	more   chan struct{} // closed at the next event
}

// Option changes how a process is started.
type Option func(*Process)

// OnEvent calls f for each event, one at a time, as it is read; the process then keeps no events for [Process.Await].
func OnEvent(f func(Event)) Option { return func(p *Process) { p.tell = f } }

// Start starts a process over the subject and returns when it listens. It is killed when the test ends.
func Start(t testing.TB, s *Subject, cfg Config, opts ...Option) *Process {
	t.Helper()
	p, err := s.Launch(cfg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// Launch starts a process over the subject and returns when it listens. The caller kills it.
func (s *Subject) Launch(cfg Config, opts ...Option) (*Process, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the test binary: %w", err)
	}
	cfg.Store, cfg.Effects = s.URL, s.Effects
	text, err := cfg.encode()
	if err != nil {
		return nil, err
	}
	p := &Process{exited: make(chan struct{}), more: make(chan struct{})}
	p.tell = p.keep
	for _, opt := range opts {
		opt(p)
	}
	p.cmd = exec.Command(binary) // the binary that runs right now
	p.cmd.Env = append(append(os.Environ(), s.Env...), envConfig+"="+text)
	p.cmd.Stderr = &p.log
	// A group of its own: when the tests die while it is stopped, the kernel ends it as an orphan.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return p, p.start()
}

func (p *Process) start() error {
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	listening := make(chan Event, 1)
	go p.read(stdout, listening)
	select {
	case e, ok := <-listening:
		if ok && e.Kind == EventListening {
			p.URL = "http://" + e.Text
			return nil
		}
		err = fmt.Errorf("a process ended before it listened: %s\n%s", e.Text, p.log.String())
	case <-time.After(startWithin):
		err = fmt.Errorf("a process did not listen within %v\n%s", startWithin, p.log.String())
	}
	p.Kill()
	return err
}

// read takes in the events until the process is gone. A line that a kill cut short is no event.
func (p *Process) read(stdout io.Reader, first chan<- Event) {
	defer close(p.exited)
	defer close(first)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for begun := false; lines.Scan(); {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if !begun {
			begun = true
			first <- e
		}
		p.tell(e)
	}
	_ = p.cmd.Wait() // a killed process is no failure
	_ = p.stdin.Close()
}

func (p *Process) keep(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
	close(p.more)
	p.more = make(chan struct{})
}

// Await waits until the process has told an event of that kind, and returns the first.
func (p *Process) Await(ctx context.Context, kind EventKind) (Event, error) {
	for seen := 0; ; {
		p.mu.Lock()
		fresh, more := p.events[seen:], p.more
		seen = len(p.events)
		p.mu.Unlock()
		for _, e := range fresh {
			if e.Kind == kind {
				return e, nil
			}
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-more:
		case <-p.exited:
			return Event{}, fmt.Errorf("process ended without the event %s\n%s", kind, p.log.String())
		case <-ctx.Done():
			return Event{}, fmt.Errorf("waiting for the event %s: %w\n%s", kind, context.Cause(ctx), p.log.String())
		}
	}
}

// Saw reports whether the process has told an event of that kind.
func (p *Process) Saw(kind EventKind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// Signal sends a signal to the process. One that is gone already is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal a process: %w", err)
	}
	return nil
}

// Kill ends the process without warning and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only for a process that is gone
	<-p.exited
}

// Exited is closed when the process is gone and all of its events were told.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Log is what the process logged, the latest of it.
func (p *Process) Log() string { return p.log.String() }

// logBuffer keeps the end of what is written to it.
type logBuffer struct {
	mu  sync.Mutex
	end []byte
}

const longestLog = 16 << 10

func (b *logBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = append(b.end, text...)
	if over := len(b.end) - longestLog; over > 0 {
		b.end = bytes.Clone(b.end[over:])
	}
	return len(text), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.end)
}
