package received_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// service is a program that is started again and again behind one address. While no process is there, that answers 502.
type service struct {
	t       *testing.T
	program string
	env     []string
	url     string // of the address

	port  atomic.Value // that the process listens on
	cmd   *exec.Cmd
	ended chan error
	log   lockedBuffer
}

// lockedBuffer holds what several processes write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newService(t *testing.T, program string, env ...string) *service {
	t.Helper()
	s := &service{t: t, program: program, env: append(env, "PATH="+os.Getenv("PATH"))}
	s.port.Store("1") // nobody's
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			port, _ := s.port.Load().(string)
			r.SetURL(&url.URL{Scheme: "http", Host: "127.0.0.1:" + port})
		},
		ErrorLog: log.New(io.Discard, "", 0),
	})
	s.url = front.URL
	t.Cleanup(func() {
		if s.cmd != nil {
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
		front.Close()
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s
}

// start starts a process and waits until it answers. One whose port was taken by another program meanwhile gets another one.
func (s *service) start() {
	s.t.Helper()
	for range 5 {
		if s.startOnce() {
			return
		}
	}
	s.t.Fatal("no process could be started")
}

func (s *service) startOnce() bool {
	s.t.Helper()
	port, err := engines.FreePort()
	if err != nil {
		s.t.Fatal(err)
	}
	s.port.Store(port)
	s.cmd = exec.CommandContext(s.t.Context(), s.program)
	s.cmd.Env, s.cmd.Stderr = append(slices.Clip(s.env), "PORT="+port), &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) { ended <- cmd.Wait() }(s.cmd, s.ended)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		if reply, err := http.Get(s.url + "/healthz"); err == nil {
			_ = reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case err := <-s.ended:
			s.cmd = nil
			s.t.Logf("the program ended: %v", err)
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.t.Fatal("the program did not become healthy within a minute")
	return false
}

// kill ends the process at once.
func (s *service) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
	s.cmd = nil
}

// stop ends the process as platforms do.
func (s *service) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		s.t.Errorf("after SIGTERM: %v", err)
	}
	s.cmd = nil
}
