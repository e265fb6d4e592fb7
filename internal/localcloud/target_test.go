package localcloud_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// target is a handler that records what it gets.
type target struct {
	url string

	mu   sync.Mutex
	seen []received
}

type received struct {
	method, uri, host string
	header            http.Header
	body              string
}

// newTarget serves answer, or 200 if that is nil.
func newTarget(t *testing.T, answer http.HandlerFunc) *target {
	t.Helper()

	tg := &target{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)

		tg.mu.Lock()
		tg.seen = append(tg.seen, received{method: r.Method, uri: r.RequestURI, host: r.Host, header: r.Header.Clone(), body: string(body)})
		tg.mu.Unlock()

		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(server.Close)
	tg.url = server.URL

	return tg
}

func (tg *target) requests() []received {
	tg.mu.Lock()
	defer tg.mu.Unlock()

	return slices.Clone(tg.seen)
}

// failing answers 500 to the first n requests.
func failing(n int) http.HandlerFunc {
	var mu sync.Mutex

	return func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()

		if n > 0 {
			n--

			w.WriteHeader(http.StatusInternalServerError)
		}
	}
}

// manual starts a cloud whose clock stands at noon.
func manual(t *testing.T) *localcloud.Cloud {
	t.Helper()

	return start(t, localcloud.Config{Clock: localcloud.ManualClock(noon())})
}

func create(t *testing.T, cloud *localcloud.Cloud, job *schedulerpb.Job) {
	t.Helper()

	_, err := schedulerClient(t, cloud, false).CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: job})
	if err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, cloud *localcloud.Cloud, by time.Duration) {
	t.Helper()

	if err := cloud.Advance(limited(t), by); err != nil {
		t.Fatal(err)
	}
}

// limited is the test's context with an end, so that nothing hangs.
func limited(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)

	return ctx
}

// landed waits until n deliveries have ended and returns all of them.
func landed(t *testing.T, cloud *localcloud.Cloud, n int) []localcloud.Delivery {
	t.Helper()

	err := cloud.Wait(limited(t), func(all []localcloud.Delivery) bool {
		ended := 0

		for _, d := range all {
			if !d.InFlight() {
				ended++
			}
		}

		return ended >= n
	})
	if err != nil {
		t.Fatal(err)
	}

	return cloud.Deliveries("")
}

// sinceNoon lists when deliveries started by the cloud's clock.
func sinceNoon(deliveries []localcloud.Delivery) []time.Duration {
	out := []time.Duration{}
	for _, d := range deliveries {
		out = append(out, d.Clock.Sub(noon()))
	}

	return out
}
