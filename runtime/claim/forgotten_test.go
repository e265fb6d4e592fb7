package claim_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// TestNothingIsKeptOfAnAttemptThatEnded: a process serves many of them.
func TestNothingIsKeptOfAnAttemptThatEnded(t *testing.T) {
	t.Parallel()

	discard := claim.WithLogger(slog.New(slog.DiscardHandler))
	own, previous := claim.New(memclaim.New(), discard), claim.New(memclaim.New(), discard)

	p := renamed()
	p.Renew, p.Previous.Claimer = true, previous

	var attempts []weak.Pointer[claim.Attempt]

	note := func(ctx context.Context) error {
		a, _ := claim.FromContext(ctx)
		attempts = append(attempts, weak.Make(a))
		ctx.Done() // is waited for from here on

		return nil
	}

	single := proposal()
	single.ID = "another"

	for _, p := range []claim.Proposal{p, single} {
		if res := own.Do(t.Context(), p, note); res.Outcome != claim.OutcomeExecuted {
			t.Fatalf("outcome %q: %v", res.Outcome, res.Err)
		}
	}

	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		runtime.GC()

		kept := 0

		for _, a := range attempts {
			if a.Value() != nil {
				kept++
			}
		}

		if kept == 0 {
			break
		}

		if time.Now().After(end) {
			t.Fatalf("%d of %d are kept", kept, len(attempts))
		}
	}

	runtime.KeepAlive(own)
	runtime.KeepAlive(previous)
}
