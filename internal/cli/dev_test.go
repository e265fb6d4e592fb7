package cli

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// devOutput is a writer that can be watched.
type devOutput struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	written chan struct{}
}

func (o *devOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	select {
	case o.written <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (o *devOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// waitFor returns the output once it holds the text.
func (o *devOutput) waitFor(t *testing.T, text string) string {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !strings.Contains(o.String(), text) {
		select {
		case <-o.written:
		case <-deadline:
			t.Fatalf("%q was not printed within 10 s, but:\n%s", text, o)
		}
	}
	return o.String()
}

func TestDevServesUntilItIsEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &devOutput{written: make(chan struct{}, 1)}
	cmd := newDevCommand()
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--project", "acme-prod"})
	cmd.SetOut(out)
	cmd.SetErr(&bytes.Buffer{})
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()

	printed := out.waitFor(t, "Interrupt to end")
	url := regexp.MustCompile(`Local cloud on (http://127\.0\.0\.1:\d+)\n`).FindStringSubmatch(printed)
	if url == nil {
		t.Fatalf("the URL is not printed:\n%s", printed)
	}
	for _, want := range []string{
		`project                         = "acme-prod"`,
		`cloud_scheduler_custom_endpoint = "` + url[1] + `/v1/"`,
		`firestore_custom_endpoint       = "` + url[1] + `/v1/"`,
		"CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDSCHEDULER=" + url[1] + "/\n",
		"CLOUDSDK_CORE_PROJECT=acme-prod\n",
		"IDEMPOTENT_ISSUER=" + url[1] + "\n",
		"IDEMPOTENT_JWKS=" + url[1] + "/jwks\n",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not printed:\n%s", want, printed)
		}
	}
	resp, err := http.Get(url[1] + "/.well-known/openid-configuration")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("discovery answered %d, %v", resp.StatusCode, err)
	}

	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("did not end within 10 s")
	}
}

func TestDevRefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"port in use": {
			args: []string{"--listen", taken.Addr().String()},
			want: taken.Addr().String() + " is in use by another program: end that, or choose another port",
		},
		"remote address": {
			args: []string{"--listen", "0.0.0.0:0"},
			want: `start the local cloud: listen address "0.0.0.0:0" is not a loopback address, and the local cloud asks nobody for credentials: ` +
				"use 127.0.0.1, or allow remote clients explicitly",
		},
		"no port": {
			args: []string{"--listen", "localhost"},
			want: `start the local cloud: listen address "localhost" is not of the form HOST:PORT: write it like 127.0.0.1:8795`,
		},
		"taken by a front": {
			args: []string{"--listen", "127.0.0.1:0", "--cloud-run", taken.Addr().String() + "=http://127.0.0.1:1"},
			want: taken.Addr().String() + " is in use by another program: end that, or choose another port",
		},
		"clock": {
			args: []string{"--listen", "127.0.0.1:0", "--clock", "noon"},
			want: `--clock "noon" is no time: write it like 2026-10-16T12:00:00Z`,
		},
		"chance":        {args: []string{"--listen", "127.0.0.1:0", "--random", "2"}, want: "rate is 2: it must be from 0 to 1"},
		"foreign store": {args: []string{"--listen", "127.0.0.1:0", "--store", "mysql://u:secret@h/d"}, want: "--store: the URL must begin with the scheme of a store and a colon; the schemes are firestore, postgres, postgresql, redis, rediss, spanner, sqlite"},
		"App Engine address": {
			args: []string{"--listen", "127.0.0.1:0", "--app-engine", "localhost:8080"},
			want: `start the local cloud: the App Engine address "localhost:8080" is no http or https URL: write it like http://127.0.0.1:8080`,
		},
		"an argument": {args: []string{"now"}, want: `unknown command "now" for "dev"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := newDevCommand()
			cmd.SetArgs(tc.args)
			cmd.SetOut(&bytes.Buffer{})
			cmd.SetErr(&bytes.Buffer{})
			cmd.SilenceUsage = true
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := cmd.ExecuteContext(ctx)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error\n  %v\nwant\n  %s", err, tc.want)
			}
		})
	}
}
