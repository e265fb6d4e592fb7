package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// healthyWithin bounds the wait for a started handler to answer /healthz.
	healthyWithin = 30 * time.Second
	// endsWithin bounds the wait for a handler to end after SIGTERM, before it is killed.
	endsWithin = 15 * time.Second
)

// buildHandler compiles the generated module against this checkout, with the demo's work in place of the user's.
func buildHandler(ctx context.Context, folder, checkout, work, binary string) error {
	if err := os.WriteFile(filepath.Join(folder, "job.go"), []byte(work), 0o600); err != nil {
		return fmt.Errorf("fill in the work: %w", err)
	}

	for _, args := range [][]string{
		{"mod", "edit", "-replace", modulePath + "=" + checkout},
		{"mod", "tidy"},
		{"build", "-trimpath", "-o", binary, "."},
	} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOWORK=off")

		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s in the generated module: %w\n%s", args[1], err, out)
		}
	}

	return nil
}

// process is the running handler. Its output is kept for the case that the demo fails.
type process struct {
	binary string
	port   string
	env    []string
	cmd    *exec.Cmd
	exited chan error
	log    logBuffer
}

// start runs the handler and returns when it answers.
func (p *process) start(ctx context.Context) error {
	p.cmd = exec.Command(p.binary)
	p.cmd.Env = append(append(os.Environ(), p.env...), "PORT="+p.port)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.exited = make(chan error, 1)

	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start the handler: %w", err)
	}

	go func(cmd *exec.Cmd, exited chan<- error) { exited <- cmd.Wait() }(p.cmd, p.exited)

	ctx, cancel := context.WithTimeout(ctx, healthyWithin)
	defer cancel()

	for {
		if p.healthy(ctx) {
			return nil
		}

		select {
		case err := <-p.exited:
			return fmt.Errorf("the handler ended: %w\n%s", errors.Join(err, errors.New("it never answered")), p.log.String())
		case <-ctx.Done():
			return fmt.Errorf("the handler does not answer: %w\n%s", ctx.Err(), p.log.String())
		case <-time.After(pollEvery):
		}
	}
}

func (p *process) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+p.port+"/healthz", http.NoBody)
	if err != nil {
		return false
	}

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}

	_, err = io.Copy(io.Discard, resp.Body)

	return errors.Join(err, resp.Body.Close()) == nil && resp.StatusCode == http.StatusOK
}

// kill ends the process without warning and returns its pid once it is gone.
func (p *process) kill() (int, error) {
	pid := p.cmd.Process.Pid
	if err := p.cmd.Process.Kill(); err != nil {
		return pid, fmt.Errorf("kill pid %d: %w", pid, err)
	}

	<-p.exited //nolint:errcheck // that it is gone is enough

	return pid, nil
}

// stop asks the process to end and returns when it is gone, however that takes.
func (p *process) stop() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return // already gone
	}

	select {
	case <-p.exited: //nolint:errcheck // that it is gone is enough
	case <-time.After(endsWithin):
		_ = p.cmd.Process.Kill()
		<-p.exited //nolint:errcheck // that it is gone is enough
	}
}

// logBuffer collects what several processes print one after the other.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.String()
}
