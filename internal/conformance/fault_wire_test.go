package conformance_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
)

// wired are the stores that have a wire to their server. SQLite and memory have none.
func wired() map[string]func(t *testing.T, w *wire) claim.Store {
	return map[string]func(t *testing.T, w *wire) claim.Store{
		"firestore": func(t *testing.T, w *wire) claim.Store {
			t.Helper()

			s, err := firestoreclaim.Open(t.Context(), "firestore://local-project/(default)/"+tableName(),
				firestoreclaim.WithClientOptions(option.WithGRPCConn(grpcConn(t, engines.Firestore(t), w))))
			if err != nil {
				t.Fatal(err)
			}

			t.Cleanup(func() { _ = s.Close() })

			return s
		},
		"spanner": func(t *testing.T, w *wire) claim.Store {
			t.Helper()

			s, err := spannerclaim.Open(t.Context(), "spanner://"+spannerDatabase(t), spannerclaim.WithClientOptions(
				option.WithGRPCConn(grpcConn(t, engines.Spanner(t), w)), option.WithoutAuthentication()))
			if err != nil {
				t.Fatal(err)
			}

			t.Cleanup(func() { _ = s.Close() })

			return s
		},
		"postgres": func(t *testing.T, w *wire) claim.Store {
			t.Helper()

			return openPostgres(t, func(c *pgxpool.Config) { c.ConnConfig.DialFunc = w.dial })
		},
		"redis": func(t *testing.T, w *wire) claim.Store {
			t.Helper()

			return openRedis(t, engines.Redis(t)+"?table="+tableName(), redisclaim.WithOptions(func(o *redis.Options) { o.Dialer = w.dial }))
		},
	}
}

// TestClientsGetOverABrokenWire breaks the wire at the claim and at its end. Whatever the client does by itself, sending a write again
// that was applied above all, one attempt does the work once.
func TestClientsGetOverABrokenWire(t *testing.T) {
	t.Parallel()

	for name, open := range wired() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &wire{}
			store := open(t, w)

			for what, skip := range map[string]int{"claim": 0, "end": 1} {
				for kind, fault := range map[string]wireFault{"request lost": wireRequestLost, "reply lost": wireReplyLost} {
					for _, n := range []int{1, 2} { // the second is that of the client's resend, or of the read-back
						p, ran := proposal(time.Minute), 0

						w.breaks(fault, skip, n)

						got := claimer(store).Do(t.Context(), p, func(context.Context) error {
							ran++

							return nil
						})

						if hits := w.hits(); hits == 0 {
							t.Errorf("%s, %s: nothing went wrong", what, kind)
						}

						w.breaks(wireIntact, 0, 0)

						if got.Outcome != claim.OutcomeExecuted || got.Attempt != 1 || ran != 1 {
							t.Errorf("%s, %s, %d times: %s by attempt %d (%v) after %d runs of the work, want executed by the first after one",
								what, kind, n, got.Outcome, got.Attempt, got.Err, ran)
						}

						if again := claimer(store).Do(t.Context(), p, func(context.Context) error { return nil }); again.Outcome != claim.OutcomeDuplicate {
							t.Errorf("%s, %s, %d times: the next delivery: %s (%v)", what, kind, n, again.Outcome, again.Err)
						}
					}
				}
			}
		})
	}
}

// TestAClaimAnsweredAfterItsDeadlineRunsNothing: the store has the claim, the answer comes too late to be used.
func TestAClaimAnsweredAfterItsDeadlineRunsNothing(t *testing.T) {
	t.Parallel()

	for name, open := range wired() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &wire{}
			store := open(t, w)
			c := claim.New(store, claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(3*time.Second))
			p := proposal(time.Minute)
			ran := 0

			w.breaks(wireLate, 0, 1)

			got := c.Do(t.Context(), p, func(context.Context) error {
				ran++

				return nil
			})
			if got.Outcome == claim.OutcomeExecuted && ran == 1 { // the client gave up sooner than its caller, and the claim was read back
				return
			}

			if got.Outcome != claim.OutcomeUnavailable || !errors.Is(got.Err, claim.ErrAmbiguous) || ran != 0 {
				t.Fatalf("%s (%v) after %d runs of the work, want unavailable after none", got.Outcome, got.Err, ran)
			}

			eventually(t, "the claim to be released in the background", func() bool {
				found, err := store.Get(t.Context(), p.ID)

				return err == nil && found.Status == claim.StatusReleased && found.Counted == 0
			})

			if err := c.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}

			if got := claimer(store).Do(t.Context(), p, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeExecuted {
				t.Errorf("the next delivery: %s (%v)", got.Outcome, got.Err)
			}
		})
	}
}

// TestServersThatRefuseForAWhileAreGotOver: storms of ABORTED and RESOURCE_EXHAUSTED, which the clients answer each in its own way.
func TestServersThatRefuseForAWhileAreGotOver(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"firestore", "spanner"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &wire{}
			store := wired()[name](t, w)

			for kind, fault := range map[string]wireFault{"aborted": wireAborted, "exhausted": wireExhausted} {
				for what, skip := range map[string]int{"claim": 0, "end": 1} {
					w.breaks(fault, skip, 4)

					got := claimer(store).Do(t.Context(), proposal(time.Minute), func(context.Context) error { return nil })
					if got.Outcome != claim.OutcomeExecuted || got.Attempt != 1 || w.hits() == 0 {
						t.Errorf("%s, %s: %s by attempt %d (%v), %d calls refused", what, kind, got.Outcome, got.Attempt, got.Err, w.hits())
					}
				}
			}
		})
	}
}

// TestServersThatRefuseReadsForAWhileAreGotOver is the same for the reads by which a delivery learns what is there: a record that is
// done stays done, and one whose lease is over is taken over, once.
func TestServersThatRefuseReadsForAWhileAreGotOver(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"firestore", "spanner"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &wire{}
			store := wired()[name](t, w)
			work := func(context.Context) error { return nil }

			for kind, fault := range map[string]wireFault{"aborted": readAborted, "exhausted": readExhausted} {
				done := proposal(time.Minute)
				if got := claimer(store).Do(t.Context(), done, work); got.Outcome != claim.OutcomeExecuted {
					t.Fatalf("%s (%v)", got.Outcome, got.Err)
				}

				w.breaks(fault, 0, 4)

				if got := claimer(store).Do(t.Context(), done, work); got.Outcome != claim.OutcomeDuplicate || w.hits() == 0 {
					t.Errorf("%s, duplicate: %s (%v), %d reads refused", kind, got.Outcome, got.Err, w.hits())
				}

				w.breaks(wireIntact, 0, 0)

				dead := proposal(time.Minute)
				abandon(t, store, dead)
				w.breaks(fault, 0, 4)

				if got := claimer(store).Do(t.Context(), dead, work); got.Outcome != claim.OutcomeExecuted || got.Attempt != 2 || w.hits() == 0 {
					t.Errorf("%s, takeover: %s by attempt %d (%v), %d reads refused", kind, got.Outcome, got.Attempt, got.Err, w.hits())
				}

				w.breaks(wireIntact, 0, 0)

				if _, err := claimer(store).Now(t.Context(), dead.ID); err != nil {
					t.Errorf("%s: the storm is over, the store's clock is not to be had: %v", kind, err)
				}
			}
		})
	}
}
