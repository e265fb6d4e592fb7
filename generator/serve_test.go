package generator_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// A generated program does the work of a run once, is healthy, and ends in order when the platform tells it to.
func TestGeneratedProgramServesAndEnds(t *testing.T) {
	if testing.Short() {
		t.Skip(longReason)
	}
	t.Parallel()
	dir := newModule(t, generator.Spec{
		Name: "nightly-report", Jobs: []string{"nightly-report"}, Store: "sqlite", Project: "acme-prod", Region: "europe-west1",
	})
	goTool(t, dir, "build", "-o", "handler", ".")
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "handler"))
	cmd.Env = []string{"PORT=" + port, "IDEMPOTENT_STORE=sqlite:" + filepath.Join(dir, "claims.db"), "IDEMPOTENT_CALLER=insecure"}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	waitHealthy(t, "http://"+address+"/healthz", ended, &log)

	for _, want := range []string{"executed", "duplicate"} {
		if got := deliverTo(t, "http://"+address+"/"); got != want {
			t.Errorf("delivery was %q, want %s", got, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
	if !strings.Contains(log.String(), `"severity":"INFO"`) {
		t.Errorf("the log has no severity that Cloud Logging reads:\n%s", log.String())
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// waitHealthy returns when the program answers its health check; one that ends before fails the test.
func waitHealthy(t *testing.T, url string, ended <-chan error, log *strings.Builder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := http.DefaultClient.Do(request); err == nil {
			_ = reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the program ended: %v\n%s", err, log.String())
		case <-ctx.Done():
			t.Fatal("the program did not become healthy within a minute")
		case <-tick.C:
		}
	}
}

// deliverTo makes one delivery of one run and returns what the handler says became of it.
func deliverTo(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-CloudScheduler", "true")
	request.Header.Set("X-CloudScheduler-JobName", "nightly-report")
	request.Header.Set("X-CloudScheduler-ScheduleTime", "2026-01-01T03:00:00Z")
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s (%v)", reply.StatusCode, body, err)
	}
	return reply.Header.Get("Idempotent-Run")
}
