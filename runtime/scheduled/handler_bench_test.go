//go:build unix

package scheduled_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// BenchmarkFreshRun is the whole handler without token verification: each delivery is of a run of its own. It is compared with a bare
// handler of the same replies, in turns of the same process, by the processor time of both: other load of the machine touches neither
// much. over-ns/delivery is what the handler costs more.
func BenchmarkFreshRun(b *testing.B) {
	for name, logger := range map[string]*slog.Logger{
		"quiet":  slog.New(slog.DiscardHandler),
		"logged": scheduled.NewLogger(io.Discard, ""),
	} {
		b.Run(name, func(b *testing.B) {
			handler, err := scheduled.NewHandler(scheduled.Config{
				Store: memclaim.New(), Caller: checkerFunc(verified), Logger: logger, Work: func(context.Context, run.Run) error { return nil },
			})
			if err != nil {
				b.Fatal(err)
			}
			at := time.Now().Add(-time.Hour).Truncate(time.Second)
			r := deliver(at, policy(run.Policy{Deadline: 180 * time.Second, Lease: 210 * time.Second, Schedule: "0 3 * * *"}))
			r.Body, r.ContentLength = http.NoBody, 0
			w := discard{http.Header{}}
			serve := func(h http.Handler, i int) {
				clear(w.header)
				r.Header[http.CanonicalHeaderKey(run.HeaderJobName)] = []string{"j" + strconv.Itoa(i)}
				h.ServeHTTP(w, r)
			}
			// A loop of b.Loop is too fine for the clock of processor time: turns of many deliveries are not.
			const turn = 500
			var plain, whole time.Duration
			i := 0
			timed := func(h http.Handler) time.Duration {
				before := processorTime()
				for range turn {
					i++
					serve(h, i)
				}
				return processorTime() - before
			}
			turns := 0
			for b.Loop() {
				plain += timed(bare{})
				whole += timed(handler)
				turns++
			}
			b.ReportMetric(float64(plain)/float64(turns*turn), "bare-ns/delivery")
			b.ReportMetric(float64(whole-plain)/float64(turns*turn), "over-ns/delivery")
			b.ReportMetric(testing.AllocsPerRun(100, func() { i++; serve(handler, i) }), "allocs/delivery")
			if w.header.Get(run.HeaderOutcome) != "executed" {
				b.Fatalf("got %v", w.header)
			}
		})
	}
}

// bare answers as the handler does, and does nothing else.
type bare struct{}

func (bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(run.HeaderOutcome, "executed")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(`{"outcome":"executed","detail":"the work was done","run":"` + r.Header.Get(run.HeaderJobName) + `"}` + "\n"))
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
