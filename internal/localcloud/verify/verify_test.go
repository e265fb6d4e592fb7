package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud/verify"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

const (
	account  = "scheduler@acme-prod.iam.gserviceaccount.com"
	audience = "https://reports.example.com"
)

func config(t *testing.T, url string) verify.Config {
	t.Helper()

	return verify.Config{
		URL: url, Project: "acme-prod", Region: "europe-west1", Job: "nightly-report", Account: account, Audience: audience,
		Timeout: 5 * time.Second,
	}
}

// ours is a handler of this project, with a cloud whose tokens it trusts.
func ours(t *testing.T) (verify.Config, *atomic.Int64) {
	t.Helper()

	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = cloud.Close() })

	checker, err := caller.Verify(caller.VerifyConfig{
		Audiences: []string{audience}, Callers: []string{account}, Issuer: cloud.Issuer(), JWKSURL: cloud.JWKSURL(),
	})
	if err != nil {
		t.Fatal(err)
	}

	var effects atomic.Int64

	handler, err := scheduled.NewHandler(scheduled.Config{
		Store: memclaim.New(), Caller: checker, LocalCloud: true, Logger: slog.New(slog.DiscardHandler),
		Work: func(ctx context.Context, _ run.Run) error {
			effects.Add(1)

			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}

			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.HandleFunc("/effects", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, effects.Load()) })

	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	cfg := config(t, server.URL+"/")
	cfg.Token = func(_ context.Context, account, audience string) (string, error) {
		return cloud.Token(account, audience)
	}

	return cfg, &effects
}

func TestOurHandlerHoldsEveryPart(t *testing.T) {
	t.Parallel()

	for _, counted := range []bool{false, true} {
		t.Run(fmt.Sprintf("counted %t", counted), func(t *testing.T) {
			t.Parallel()

			cfg, effects := ours(t)
			if counted {
				cfg.Effects = cfg.URL + "effects"
			}

			report, err := verify.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}

			for _, r := range report.Results {
				if r.Verdict != verify.Holds || r.Detail != "" {
					t.Errorf("%s %s: %s", r.Verdict, r.ID, r.Detail)
				}
			}

			if len(report.Results) != len(verify.IDs()) || report.Holds != len(report.Results) || effects.Load() == 0 {
				t.Errorf("%d results, %d hold, %d effects", len(report.Results), report.Holds, effects.Load())
			}
		})
	}
}

// broken is a handler with one defect.
type broken struct {
	mu   sync.Mutex
	seen map[string]bool
	// key tells runs apart.
	key func(*http.Request) (string, bool)
	// rival answers while the first is at it; nil: at it there is nobody, the work is done in no time.
	rival func(http.ResponseWriter)
	// effects counts.
	effects int
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/effects" {
		b.mu.Lock()
		defer b.mu.Unlock()
		fmt.Fprint(w, b.effects)

		return
	}

	key, readable := b.key(r)
	if !readable {
		w.WriteHeader(http.StatusBadRequest)

		return
	}

	b.mu.Lock()
	first := !b.seen[key]
	b.seen[key] = true

	if first {
		b.effects++
	}
	b.mu.Unlock()

	switch {
	case first:
		time.Sleep(100 * time.Millisecond)
		w.Header().Set(run.HeaderOutcome, "executed")
	case b.rival != nil:
		b.rival(w)
	default:
		w.Header().Set(run.HeaderOutcome, "duplicate")
	}
}

func header(r *http.Request, name string) string { return strings.Join(r.Header.Values(name), "") }

func TestBrokenHandlersAreCaught(t *testing.T) {
	t.Parallel()

	var deliveries atomic.Int64

	for name, tc := range map[string]struct {
		handler *broken
		caught  []string
	}{
		"no memory": {
			&broken{key: func(*http.Request) (string, bool) { return strconv.FormatInt(deliveries.Add(1), 10), true }},
			[]string{"duplicate", "late-duplicates", "race", "lower-case", "offset", "forced", "no-schedule-time", "repeated-time"},
		},
		"compares text": {
			&broken{key: func(r *http.Request) (string, bool) { v := header(r, run.HeaderScheduleTime); return v, v != "" }},
			[]string{"offset", "fraction", "unreadable-time", "early-success"},
		},
		"minds the case": {
			&broken{key: func(r *http.Request) (string, bool) {
				v := strings.Join(r.Header[http.CanonicalHeaderKey(run.HeaderScheduleTime)], "")
				at, err := time.Parse(time.RFC3339, v)

				return at.UTC().String() + strconv.Itoa(len(r.Header.Values("Content-Type"))), err == nil
			}},
			[]string{"no-token", "other-audience", "not-scheduler", "forced-apart"},
		},
		"lets rivals fail with 503": {
			&broken{key: func(r *http.Request) (string, bool) { v := header(r, run.HeaderScheduleTime); return v, v != "" }, rival: func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}},
			[]string{"race", "duplicate"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tc.handler.seen = map[string]bool{}
			server := httptest.NewServer(tc.handler)
			t.Cleanup(server.Close)

			cfg := config(t, server.URL)
			cfg.Effects = server.URL + "/effects"
			cfg.Only = tc.caught
			cfg.Timeout = 2 * time.Second
			cfg.Token = func(context.Context, string, string) (string, error) { return "a.b.c", nil }

			report, err := verify.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}

			for _, r := range report.Results {
				if r.Verdict == verify.Holds {
					t.Errorf("%s is not caught: %s", r.ID, r.Detail)
				}
			}
		})
	}
}

func TestWithoutAHeaderOrACountNothingIsClaimed(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)

	cfg := config(t, server.URL)
	cfg.Only = []string{"duplicate"}

	report, err := verify.Run(t.Context(), cfg)
	if err != nil || report.Unclear != 1 || !strings.Contains(report.Results[0].Detail, "--effects") {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestWhatCannotBeCheckedIsAnError(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		change func(*verify.Config)
		want   string
	}{
		"no URL":      {func(c *verify.Config) { c.URL = "localhost:1" }, `the URL "localhost:1" is no http or https URL`},
		"unknown":     {func(c *verify.Config) { c.Only = []string{"x"} }, `check "x" is unknown: the checks are executes, duplicate`},
		"no project":  {func(c *verify.Config) { c.Project = "" }, "project is missing"},
		"nobody home": {func(c *verify.Config) { c.URL = "http://127.0.0.1:1/" }, "the handler cannot be reached"},
	} {
		cfg := config(t, "http://127.0.0.1:1/")
		tc.change(&cfg)

		_, err := verify.Run(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)

	if _, err := verify.Run(ctx, config(t, server.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestIDsAreUniqueAndReportsAreJSON(t *testing.T) {
	t.Parallel()

	ids := slices.Sorted(slices.Values(verify.IDs()))
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids repeat: %v", ids)
	}

	text, err := json.Marshal(verify.Report{URL: "u", Results: []verify.Result{{ID: "a", Title: "b", Verdict: verify.Holds}}, Holds: 1})
	if want := `{"url":"u","results":[{"id":"a","title":"b","verdict":"holds"}],"holds":1,"fails":0,"unclear":0}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
