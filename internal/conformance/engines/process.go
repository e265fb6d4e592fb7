package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is one child of the test process.
type process struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{} // closed once the child is gone and err is set
	err    error
}

// startProcess runs cmd with its output in the file log. deathSignal is what the kernel sends when the test process dies.
func startProcess(cmd *exec.Cmd, log string, deathSignal syscall.Signal) (*process, error) {
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}

	cmd.Stdout, cmd.Stderr = out, out
	endWithParent(cmd, deathSignal)

	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	started := make(chan error)

	go func() {
		// The death signal comes when the thread that started the child ends, so that thread lives as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		err := cmd.Start()
		_ = out.Close() // the child has its own descriptor
		started <- err

		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()

	if err := <-started; err != nil {
		return nil, err
	}

	return p, nil
}

var errEnded = errors.New("ended before it was ready")

// waitReady probes until ready returns nil, the child ends or ctx does.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()

	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}

		select {
		case <-p.exited:
			return fmt.Errorf("%w: %w", errEnded, errors.Join(p.err, err))
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", err)
		case <-tick.C:
		}
	}
}

// end sends sig and returns when the child is gone; one that does not go within stopWithin is killed.
func (p *process) end(sig syscall.Signal) {
	select {
	case <-p.exited:
		return
	default:
	}

	_ = p.cmd.Process.Signal(sig) // fails only for a child that is already gone

	select {
	case <-p.exited:
	case <-time.After(stopWithin):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// logTail is the end of what the child printed.
func (p *process) logTail() string {
	const most = 2000

	out, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}

	if len(out) > most {
		out = out[len(out)-most:]
	}

	return strings.TrimSpace(string(out))
}
