package localcloud_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// subscribe opens the events that the page listens to.
func subscribe(t *testing.T, cloud *localcloud.Cloud) *bufio.Scanner {
	t.Helper()

	req, err := http.NewRequestWithContext(limited(t), http.MethodGet, cloud.URL()+"/local/events", nil)
	if err != nil {
		t.Fatal(err)
	}

	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)

	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = resp.Body.Close() })

	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("events: %d %s", resp.StatusCode, kind)
	}

	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)

	return lines
}

// event returns the data of the next event of a name.
func event(t *testing.T, lines *bufio.Scanner, name string) string {
	t.Helper()

	for lines.Scan() {
		if lines.Text() == "event: "+name {
			lines.Scan()

			return strings.TrimPrefix(lines.Text(), "data: ")
		}
	}

	t.Fatalf("the events ended before %s: %v", name, lines.Err())

	return ""
}

func TestEventsTellWhatIsThereAndThenWhatChanges(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	lines := subscribe(t, cloud)
	if hello := event(t, lines, "hello"); !strings.Contains(hello, `"store":false`) {
		t.Errorf("hello: %s", hello)
	}

	if jobs := event(t, lines, "jobs"); !strings.Contains(jobs, `"short":"nightly-report"`) || !strings.Contains(jobs, `"next":"2026-10-16T12:05:00Z"`) {
		t.Errorf("jobs: %s", jobs)
	}

	if state := event(t, lines, "state"); !strings.Contains(state, `"now":"2026-10-16T12:00:00Z"`) || !strings.Contains(state, `"running":false`) {
		t.Errorf("state: %s", state)
	}

	advance(t, cloud, 5*time.Minute)

	deliveries := event(t, lines, "deliveries")
	for !strings.Contains(deliveries, `"status":200`) {
		deliveries = event(t, lines, "deliveries")
	}

	if !strings.Contains(deliveries, `"name":"`+nightly+`/runs/2026-10-16T12:05:00Z"`) {
		t.Errorf("deliveries: %s", deliveries)
	}

	if err := schedulerClient(t, cloud, false).DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: nightly}); err != nil {
		t.Fatal(err)
	}

	jobs := event(t, lines, "jobs")
	for !strings.Contains(jobs, `"gone":["`+nightly+`"]`) {
		jobs = event(t, lines, "jobs")
	}
}

// Within the slack a handler cannot tell a forced run from the scheduled one, so both have one record.
func TestAForcedRunIsNamedAsTheHandlerNamesIt(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))
	advance(t, cloud, 4*time.Minute)
	call(t, cloud, "POST", "/v1/"+nightly+":run", "{}", nil)
	landed(t, cloud, 1)
	advance(t, cloud, 40*time.Second)
	call(t, cloud, "POST", "/v1/"+nightly+":run", "{}", nil)

	for i, d := range landed(t, cloud, 2) {
		_, got := call(t, cloud, "GET", fmt.Sprintf("/local/deliveries/%d", d.ID), "", nil)
		if want := nightly + []string{"/forced/", "/runs/"}[i] + "2026-10-16T12:05:00Z"; got["name"] != want {
			t.Errorf("delivery %d is of %v, want %s", i, got["name"], want)
		}
	}
}

func TestClosingEndsTheEventsOfPages(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	lines := subscribe(t, cloud)
	event(t, lines, "state")

	started := time.Now()

	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}

	for lines.Scan() {
	}

	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("closing with a page took %s", took)
	}
}

func TestTooManyPagesAreRefused(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	for range 64 {
		event(t, subscribe(t, cloud), "state")
	}

	code, got := call(t, cloud, "GET", "/local/events", "", nil)
	if code != http.StatusServiceUnavailable {
		t.Errorf("the 65th page: %d %v", code, got)
	}
}

func TestPagesOfOtherOriginsCannotDriveTheCloud(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	for name, header := range map[string]http.Header{
		"said by the browser": {"Sec-Fetch-Site": {"cross-site"}},
		"another origin":      {"Origin": {"https://evil.example"}},
	} {
		code, _ := call(t, cloud, "POST", "/v1/"+nightly+":run", "", header)
		if code != http.StatusForbidden {
			t.Errorf("%s: %d", name, code)
		}
	}

	code, _ := call(t, cloud, "POST", "/v1/"+nightly+":run", "", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {cloud.URL()}})
	if code != http.StatusOK {
		t.Errorf("the cloud's own page: %d", code)
	}
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	for _, path := range []string{"/", "/local/page/app.js", "/local/page/page.css", "/local/page/timeline.css", "/local/page/icon.svg"} {
		resp, err := http.Get(cloud.URL() + path)
		if err != nil {
			t.Fatal(err)
		}

		policy := resp.Header.Get("Content-Security-Policy")
		_ = resp.Body.Close()

		if resp.StatusCode != http.StatusOK || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %d, policy %q", path, resp.StatusCode, policy)
		}
	}

	code, _ := call(t, cloud, "GET", "/local/deliveries/1", "", nil)
	if code != http.StatusNotFound {
		t.Errorf("a delivery that never was: %d", code)
	}
}
