package bench_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// TestTheHandlerAddsMicroseconds measures processor time: deliveries of new runs, by a verified caller with a policy header. Of many
// rounds the best is compared, since everything else on the machine only adds; the one in the middle holds its share of the collector.
func TestTheHandlerAddsMicroseconds(t *testing.T) {
	if !measuring() {
		t.Skip(measurement)
	}
	const deliveries, rounds = 2_000, 40
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}\n"))
	})
	for name, logger := range map[string]*slog.Logger{"not logged": slog.New(slog.DiscardHandler), "logged": scheduled.NewLogger(io.Discard, "")} {
		var ours, other []time.Duration
		for range rounds {
			ours = append(ours, perDelivery(t, guarded(t, logger), deliveries))
			other = append(other, perDelivery(t, bare, deliveries))
		}
		with, without := slices.Min(ours), slices.Min(other)
		ratio := fmt.Sprintf("+%s (aim: 5 µs), in the middle +%s", micros(with-without), micros(median(ours)-median(other)))
		row(t, "Handler with memclaim, against a bare one, processor time", name, micros(with), micros(without), ratio)
	}
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.2f µs", float64(d)/float64(time.Microsecond))
}

func guarded(t *testing.T, logger *slog.Logger) http.Handler {
	t.Helper()
	handler, err := scheduled.NewHandler(scheduled.Config{
		Store: memclaim.New(), Caller: anybody{}, Logger: logger, Work: func(context.Context, run.Run) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// perDelivery is the processor time of one delivery among many.
func perDelivery(t *testing.T, handler http.Handler, n int) time.Duration {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	request.ContentLength = 0
	for name, value := range map[string]string{
		run.HeaderScheduler: "true", run.HeaderScheduleTime: time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), run.HeaderProject: "acme-prod",
		run.HeaderRegion: "europe-west1",
		run.HeaderPolicy: run.Policy{Deadline: 180 * time.Second, Lease: 210 * time.Second, Schedule: "0 3 * * *"}.Encode(),
	} {
		request.Header.Set(name, value)
	}
	job := http.CanonicalHeaderKey(run.HeaderJobName)
	jobs := make([][]string, n)
	for i := range jobs {
		jobs[i] = []string{"job-" + strconv.Itoa(i)}
	}
	w := discard{http.Header{}}
	took := cpu(t, func() {
		for _, name := range jobs {
			clear(w.header)
			request.Header[job] = name
			handler.ServeHTTP(w, request)
		}
	})
	return took / time.Duration(n)
}

// discard is a reply that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// anybody verifies every caller at no cost.
type anybody struct{}

func (anybody) Check(*http.Request) (caller.Caller, error) {
	return caller.Caller{
		Email: "scheduler@acme-prod.iam.gserviceaccount.com", ProjectFromEmail: "acme-prod", Verified: true,
	}, nil
}
