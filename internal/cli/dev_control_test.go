package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// runDev runs a command below dev and returns what it prints and its exit status.
func runDev(t *testing.T, args ...string) (string, int, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newDevCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SilenceUsage = true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), ExitStatus(err), err
}

// served runs dev until the test ends and returns what it printed at its start.
func served(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &devOutput{written: make(chan struct{}, 1)}
	cmd := newDevCommand()
	cmd.SetArgs(append(args, "--listen", "127.0.0.1:0"))
	cmd.SetOut(out)
	cmd.SetErr(&bytes.Buffer{})
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("dev ended with %v", err)
		}
	})
	return out.waitFor(t, "Interrupt to end")
}

func devCloud(t *testing.T) *localcloud.Cloud {
	t.Helper()
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{Clock: localcloud.ManualClock(time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	return cloud
}

func TestDevDrivesARunningCloud(t *testing.T) {
	t.Parallel()
	cloud := devCloud(t)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"advance", "24h"}, "2026-10-17T12:00:00Z\n"},
		{[]string{"inject", "lost-reply", "nightly-report"}, "lost_reply  nightly-report  1 more\n"},
		{[]string{"inject", "duplicate", "--count", "3", "--after", "5s", "--times", "-1"}, "lost_reply  nightly-report  1 more\nduplicate  any job  until cleared\n"},
		{[]string{"inject", "clear"}, "No faults are still to happen.\n"},
		{[]string{"inject", "status", "--code", "502", "--skip", "2"}, "status  any job  1 more\n"},
		{[]string{"inject", "slow-token", "--by", "1m"}, "status  any job  1 more\nslow_token  any job  1 more\n"},
		{[]string{"inject", "random", "--seed", "7", "--rate", "0.5", "nightly-report"}, "Faults by chance: 0.5 of the deliveries of nightly-report, seed 7\n"},
		{[]string{"inject", "random", "--rate", "0"}, "No faults by chance.\n"},
		{[]string{"inject", "quota", "ListJobs"}, ""},
	} {
		out, _, err := runDev(t, append(tc.args, "--cloud", cloud.URL())...)
		if err != nil || out != tc.want {
			t.Errorf("%v: %v\n%s", tc.args, err, out)
		}
	}
	resp, err := http.Get(cloud.URL() + "/v1/projects/p/locations/europe-west1/jobs")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("after quota: %d, %v", resp.StatusCode, err)
	}
}

func TestDevSaysWhatTheRunningCloudRefuses(t *testing.T) {
	t.Parallel()
	cloud, stranger := devCloud(t), httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(stranger.Close)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no duration":   {[]string{"advance", "soon", "--cloud", cloud.URL()}, `"soon" is no duration: write it like 90s or 24h`},
		"bad status":    {[]string{"inject", "status", "--code", "700", "--cloud", cloud.URL()}, "fault status is 700: use an HTTP status from 200 to 599"},
		"bad rate":      {[]string{"inject", "random", "--rate", "2", "--cloud", cloud.URL()}, "rate is 2: it must be from 0 to 1"},
		"nobody":        {[]string{"advance", "1h", "--cloud", "http://127.0.0.1:1"}, "no local cloud answers at http://127.0.0.1:1: start one with dev, or name another with --cloud"},
		"no URL":        {[]string{"advance", "1h", "--cloud", "here"}, `--cloud "here" is no URL: write it like http://127.0.0.1:8795`},
		"another thing": {[]string{"advance", "1h", "--cloud", stranger.URL}, stranger.URL + " answered 404: it may be no local cloud"},
	} {
		_, status, err := runDev(t, tc.args...)
		if err == nil || status != 1 || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
}

func TestDevVerifyPrintsATableOrJSONAndFailsWithTheHandler(t *testing.T) {
	t.Parallel()
	cloud := devCloud(t)
	// This handler does its work whoever asks, and as often as it is asked.
	handler := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Idempotent-Run", "executed") }))
	t.Cleanup(handler.Close)
	common := []string{"verify", "--cloud", cloud.URL(), "--url", handler.URL, "--only", "executes,duplicate,no-token"}

	out, status, err := runDev(t, common...)
	if status != 1 || err == nil || err.Error() != "2 of 3 checks fail" {
		t.Errorf("exit %d, %v", status, err)
	}
	for _, want := range []string{
		"holds  executes   a delivery of a new run does its work\n", "fails  duplicate  the same delivery again succeeds without doing the work\n",
		"2 answers say executed instead of 1: 200 executed, 200 executed", "1 hold, 2 fail, 0 unclear",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}

	out, status, _ = runDev(t, append(common, "--json")...)
	var report struct {
		Fails   int              `json:"fails"`
		Results []map[string]any `json:"results"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 || report.Fails != 2 || len(report.Results) != 3 {
		t.Errorf("exit %d, %v: %s", status, err, out)
	}

	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(silent.Close)
	for name, args := range map[string][]string{
		"nobody there": {"verify", "--no-token", "--url", "http://127.0.0.1:1/"},
		"no URL":       {"verify", "--no-token", "--url", "x"},
		"no race":      {"verify", "--no-token", "--url", handler.URL, "--rivals", "1"},
		"no check":     {"verify", "--no-token", "--url", handler.URL, "--only", "x"},
		"all unclear":  {"verify", "--no-token", "--url", silent.URL, "--only", "executes,race"},
	} {
		if _, status, err := runDev(t, args...); status != 2 {
			t.Errorf("%s: exit %d, %v", name, status, err)
		}
	}
}

func TestDevVerifyServesTheTokensWhereNobodyDoes(t *testing.T) {
	t.Parallel()
	free := httptest.NewServer(http.NotFoundHandler())
	address := free.URL
	free.Close() // nobody listens there any more
	var seen string
	handler := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		w.Header().Set("Idempotent-Run", "executed")
	}))
	t.Cleanup(handler.Close)
	out, status, err := runDev(t, "verify", "--cloud", address, "--url", handler.URL, "--only", "executes")
	if status != 0 || err != nil || strings.Count(seen, ".") != 2 {
		t.Errorf("exit %d, %v, %d dots in the token\n%s", status, err, strings.Count(seen, "."), out)
	}
}

func TestDevKeepsStateShowsRecordsAndLetsChanceIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	printed := served(t, "--store", "sqlite:"+filepath.Join(dir, "claims.db"), "--state", filepath.Join(dir, "dev.json"),
		"--clock", "2026-10-16T12:00:00Z", "--random", "0.25", "--seed", "7", "--cloud-run", "127.0.0.1:0=http://127.0.0.1:1")
	for _, want := range []string{
		"Faults by chance: 0.25 of the deliveries of any job, seed 7\n", "jobs and deliveries are kept in " + filepath.Join(dir, "dev.json"),
		"As on Cloud Run, behind IAM: http://127.0.0.1:",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not printed:\n%s", want, printed)
		}
	}
	url := regexp.MustCompile(`Watch the runs: (http://127\.0\.0\.1:\d+/)\n`).FindStringSubmatch(printed)
	if url == nil {
		t.Fatalf("the page is not named:\n%s", printed)
	}
	resp, err := http.Get(url[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the page answered %d, %v", resp.StatusCode, err)
	}
}

func TestDevLetsChangesTakeTheirTime(t *testing.T) {
	t.Parallel()
	printed := served(t, "--mutation-time", "1h")
	url := regexp.MustCompile(`Watch the runs: (http://127\.0\.0\.1:\d+)/\n`).FindStringSubmatch(printed)
	if url == nil {
		t.Fatalf("the page is not named:\n%s", printed)
	}
	jobs := url[1] + "/v1/projects/p/locations/europe-west1/jobs"
	post := func(ctx context.Context, url, body string) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return 0
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	ctx, cancel := context.WithCancel(t.Context())
	created := make(chan int, 1)
	go func() {
		created <- post(ctx, jobs, `{"name": "projects/p/locations/europe-west1/jobs/a", "schedule": "0 0 1 1 *", "httpTarget": {"uri": "http://127.0.0.1:1/"}}`)
	}()
	t.Cleanup(func() { cancel(); <-created })
	for deadline := time.Now().Add(10 * time.Second); ; {
		// Until the create has arrived there is no such job.
		status := post(t.Context(), jobs+"/a:pause", "{}")
		if status == http.StatusConflict {
			return
		}
		if status != http.StatusNotFound || time.Now().After(deadline) {
			t.Fatalf("a change beside a create: %d", status)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
