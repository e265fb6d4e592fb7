package engines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// readyWithin bounds the wait for a server to answer. The Java emulator needs a second alone and tens of them on a machine
	// that compiles at the same time.
	readyWithin = 90 * time.Second
	// readyEvery is the pause between two probes.
	readyEvery = 50 * time.Millisecond
	// stopWithin bounds the wait for a server to end after it was asked to, before it is killed.
	stopWithin = 10 * time.Second
)

// Server is one running engine.
type Server struct {
	name string
	addr string
	url  string
	dir  string
	// command builds the server's command line anew for each start.
	command func() *exec.Cmd
	// ready returns nil once the server answers.
	ready func(ctx context.Context) error
	// stopSignal asks the server to end without keeping anything.
	stopSignal syscall.Signal
	proc       *process
	// stop ends a server that is part of this process. Nil: it is not.
	stop func()
}

// Addr is the server's loopback host:port.
func (s *Server) Addr() string { return s.addr }

// URL is the address in the form that the store of the engine's name opens, without a table name.
func (s *Server) URL() string { return s.url }

// Restart kills the server without warning and starts it again on the same port with the same data folder; it returns when the
// server answers. What the server did not keep on disk is gone.
func (s *Server) Restart(t testing.TB) {
	t.Helper()

	s.proc.end(syscall.SIGKILL)

	// PostgreSQL does not start before the last process that the killed one has left is gone.
	for since := time.Now(); ; time.Sleep(readyEvery) {
		err := s.start()
		if err == nil {
			return
		}

		if !errors.Is(err, errEnded) || time.Since(since) > stopWithin {
			t.Fatal(err)
		}
	}
}

// Kill ends the server without warning.
func (s *Server) Kill() { s.proc.end(syscall.SIGKILL) }

func (s *Server) start() error {
	proc, err := startProcess(s.command(), filepath.Join(s.dir, "log"), s.stopSignal)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}

	s.proc = proc

	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()

	if err := proc.waitReady(ctx, s.ready); err != nil {
		proc.end(syscall.SIGKILL)

		return fmt.Errorf("start %s: %w\n%s", s.name, err, proc.logTail())
	}

	return nil
}

// Close ends the server and removes its data.
func (s *Server) Close() { s.close() }

func (s *Server) close() {
	if s.proc != nil {
		s.proc.end(s.stopSignal)
	}

	if s.stop != nil {
		s.stop()

		return
	}

	_ = os.RemoveAll(s.dir)
}

// launch starts a server that spec describes on a free port in a data folder of its own. A port that another process took in the
// meantime is tried again with the next one.
func launch(name string, spec func(s *Server, port string) error) (*Server, error) {
	const tries = 3

	var errs []error

	for range tries {
		s, err := launchOnce(name, spec)
		if err == nil {
			return s, nil
		}

		errs = append(errs, err)
	}

	return nil, errors.Join(errs...)
}

func launchOnce(name string, spec func(s *Server, port string) error) (*Server, error) {
	dir, err := scratch(name)
	if err != nil {
		return nil, err
	}

	port, err := FreePort()
	if err != nil {
		return nil, err
	}

	s := &Server{name: name, dir: dir, addr: "127.0.0.1:" + port, stopSignal: syscall.SIGTERM}
	s.ready = s.dial

	if err := spec(s, port); err != nil {
		s.close()

		return nil, err
	}

	if err := s.start(); err != nil {
		s.close()

		return nil, err
	}

	return s, nil
}

// own starts a server for one test alone and ends it with the test.
func own(t testing.TB, launch func() (*Server, error)) *Server {
	t.Helper()

	s, err := launch()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.close)

	return s
}

// of returns the server that the tests of this process share.
func of(t testing.TB, name string, launch func() (*Server, error)) *Server {
	t.Helper()

	s, err := shared.get(name, launch)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// dial is the weakest sign of life: the port accepts a connection.
func (s *Server) dial(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}

	return conn.Close()
}

// FreePort is a TCP port of 127.0.0.1 that nobody listened on a moment ago.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}

	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", errors.Join(err, l.Close())
	}

	return port, l.Close()
}

// firstLine is the part of a tool's output that a message can carry.
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")

	return line
}
