package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// devProcess is dev in a process of its own.
type devProcess struct {
	cmd *exec.Cmd
	url string
}

func startDev(t *testing.T, state string) *devProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "terraform-provider-idempotent", "dev", "--listen", "127.0.0.1:0", "--state", state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	p := &devProcess{cmd: cmd}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "Local cloud on "); ok {
			p.url = url
		}
		if strings.Contains(lines.Text(), "Interrupt to end") {
			return p
		}
	}
	t.Fatalf("dev did not start: %v\n%s", cmd.Wait(), &log)
	return nil
}

func (p *devProcess) end(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err := p.cmd.Wait()
	if exit := new(exec.ExitError); err != nil && (sig != syscall.SIGKILL || !errors.As(err, &exit)) {
		t.Fatalf("dev ended with %v", err)
	}
}

func TestOneDevProcessKeepsAState(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "dev.json")
	first := startDev(t, state)
	refused := func(holder *devProcess) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "terraform-provider-idempotent", "dev", "--listen", "127.0.0.1:0", "--state", state).CombinedOutput()
		want := fmt.Sprintf("start the local cloud: the state in %s is kept by process %d, which serves %s: "+
			"end that, or keep the state of this one in another file", state, holder.cmd.Process.Pid, holder.url)
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("the second: %v\n%s\nwant\n%s", err, out, want)
		}
	}
	refused(first)

	other := startDev(t, filepath.Join(filepath.Dir(state), "other.json"))
	other.end(t, syscall.SIGTERM)

	first.end(t, syscall.SIGKILL)
	second := startDev(t, state)
	refused(second)
	second.end(t, syscall.SIGTERM)
	startDev(t, state).end(t, syscall.SIGTERM)
}
