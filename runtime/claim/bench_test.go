package claim_test

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// BenchmarkDo is what a fresh run costs over the work itself.
func BenchmarkDo(b *testing.B) {
	for name, renew := range map[string]bool{"fresh": false, "fresh renewed": true} {
		b.Run(name, func(b *testing.B) {
			c := claim.New(memclaim.New(), claim.WithLogger(slog.New(slog.DiscardHandler)))
			p := claim.Proposal{Run: "runs/x", Lease: time.Minute, Deadline: time.Minute, Retention: time.Hour, Renew: renew}

			b.ReportAllocs()

			for i := 0; b.Loop(); i++ {
				p.ID = strconv.Itoa(i)
				if res := c.Do(b.Context(), p, func(context.Context) error { return nil }); res.Outcome != claim.OutcomeExecuted {
					b.Fatal(res.Outcome, res.Err)
				}
			}
		})
	}
}
