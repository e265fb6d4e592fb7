package generator_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

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
