package localcloud_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
)

// The runtime's own checker for services behind IAM is the judge of what the front hands on.
func TestTheCloudRunFrontHandsOnWhatIAMChecked(t *testing.T) {
	t.Parallel()

	checker, err := caller.CloudRunIAM(caller.CloudRunConfig{
		Callers: []string{account}, Getenv: func(name string) string { return map[string]string{"K_SERVICE": "reports"}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}

	tg := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := checker.Check(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	})
	cloud := start(t, localcloud.Config{
		Clock:  localcloud.ManualClock(noon()),
		Logger: slog.New(slog.DiscardHandler),
		Fronts: []localcloud.Front{{Listen: "127.0.0.1:0", Target: tg.url, Invokers: []string{account}, Audiences: []string{"reports"}}},
	})
	url := cloud.FrontURLs()[0]

	for name, tc := range map[string]struct {
		audience, account string
		want              int
	}{
		"origin":          {url, account, 200},
		"with a path":     {url + "/work", account, 200},
		"custom audience": {"reports", account, 200},
		"with a query":    {url + "/work?a=1", account, 401},
		"another origin":  {"https://else.example", account, 401},
		"a longer port":   {url + "0", account, 401},
		"not an invoker":  {url, "other@acme-prod.iam.gserviceaccount.com", 403},
	} {
		token, err := cloud.Token(tc.account, tc.audience)
		if err != nil {
			t.Fatal(err)
		}

		if got := through(t, url, "Bearer "+token); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}

	good, err := cloud.Token(account, url)
	if err != nil {
		t.Fatal(err)
	}

	for name, authorization := range map[string]string{
		"opaque": "Bearer ya29.x", "cut": "Bearer " + good[:len(good)-8], "unsigned": "Bearer " + good[:strings.LastIndex(good, ".")+1],
	} {
		if got := through(t, url, authorization); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
	}

	if got := through(t, url, ""); got != http.StatusForbidden {
		t.Errorf("without a token: %d", got)
	}

	job := httpJob(url + "/work")
	withToken(job, "")
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute)

	if d := cloud.Deliveries(""); len(d) != 1 || d[0].Status != 200 {
		t.Errorf("a job through the front: %+v", d)
	}

	for _, seen := range tg.requests() {
		if token := seen.header.Get("Authorization"); !strings.HasSuffix(token, ".SIGNATURE_REMOVED_BY_GOOGLE") {
			t.Errorf("the handler got a token that ends with %q", token[strings.LastIndex(token, ".")+1:])
		}
	}
}

func through(t *testing.T, url, authorization string) int {
	t.Helper()

	req, err := http.NewRequestWithContext(limited(t), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}

	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}

	if err := resp.Body.Close(); err != nil {
		t.Errorf("close: %v", err)
	}

	return resp.StatusCode
}

func TestFrontsThatCannotServeStopTheStart(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	for name, tc := range map[string]struct {
		front localcloud.Front
		want  string
	}{
		"remote":    {localcloud.Front{Listen: "0.0.0.0:0", Target: "http://127.0.0.1:1"}, "is not a loopback HOST:PORT"},
		"no target": {localcloud.Front{Listen: "127.0.0.1:0", Target: "localhost:1"}, "is no http or https URL"},
		"port used": {localcloud.Front{Listen: cloud.Addr(), Target: "http://127.0.0.1:1"}, "listen on " + cloud.Addr()},
	} {
		_, err := localcloud.Start(t.Context(), localcloud.Config{Fronts: []localcloud.Front{{Listen: "127.0.0.1:0", Target: "http://127.0.0.1:1"}, tc.front}})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}

	down := start(t, localcloud.Config{Fronts: []localcloud.Front{{Listen: "127.0.0.1:0", Target: "http://127.0.0.1:1"}}})

	token, err := down.Token(account, down.FrontURLs()[0])
	if err != nil {
		t.Fatal(err)
	}

	if got := through(t, down.FrontURLs()[0], "Bearer "+token); got != http.StatusServiceUnavailable {
		t.Errorf("a target that is down: %d", got)
	}
}
