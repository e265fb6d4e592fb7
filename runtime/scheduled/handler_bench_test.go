package scheduled_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// BenchmarkFreshRun is the whole handler without token verification: each delivery is of a run of its own.
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
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(w.header)
				r.Header[http.CanonicalHeaderKey(run.HeaderJobName)] = []string{"j" + strconv.Itoa(i)}
				handler.ServeHTTP(w, r)
			}
			if w.header.Get(run.HeaderOutcome) != "executed" {
				b.Fatalf("got %v", w.header)
			}
		})
	}
}
