package claim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

// lines is what was logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.Write(p) //nolint:wrapcheck // it never fails
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *lines) want(b *bubble, line string) {
	b.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()

	if !strings.Contains(l.text.String(), line) {
		b.Errorf("logged:\n%swant: %s", l.text.String(), line)
	}
}

// TestWhatTheReplyCannotTellIsLogged: what an operator must know of a run that its delivery does not say, or says to nobody.
func TestWhatTheReplyCannotTellIsLogged(t *testing.T) {
	for name, tt := range map[string]struct {
		work    func(ctx context.Context, b *bubble) error
		outcome claim.Outcome
		want    string // before the run and the attempt, and after them
		rest    string
	}{
		"a renewal fails": {
			func(_ context.Context, b *bubble) error {
				b.store.Before(unreachable(lease / 2))
				time.Sleep(lease / 2)

				return nil
			},
			claim.OutcomeExecuted, `level=WARN msg="lease not renewed, its old end stands"`, ` error="outcome of a write is unknown: `,
		},
		"the release fails": {
			func(_ context.Context, b *bubble) error {
				b.store.Before(unreachable(time.Minute))

				return errWork
			},
			claim.OutcomeReleased, `level=WARN msg="claim not released, its lease will lapse"`, ` error="outcome of a write is unknown: `,
		},
		"the completion fails": {
			func(_ context.Context, b *bubble) error {
				b.store.Before(unreachable(time.Minute))

				return nil
			},
			claim.OutcomeUnrecorded, `level=ERROR msg="work done but not recorded"`, ` status=completed error="outcome of a write is unknown: `,
		},
		"the work fails after it has committed": {
			func(ctx context.Context, _ *bubble) error {
				return errors.Join(memclaim.CompleteTx(ctx, nothing), errWork)
			},
			claim.OutcomeExecuted, `level=ERROR msg="work failed after it had committed its completion"`, ` error="upstream said no"`,
		},
		"the claim is lost to another": {
			func(_ context.Context, b *bubble) error {
				b.store.Put(runID, claim.Record{Status: claim.StatusInProgress, AttemptID: "other", Attempt: 2, Rev: 2, Lease: lease})

				return nil
			},
			claim.OutcomeLost, `level=ERROR msg="work done, but its claim was lost before the end"`, ` error="claim lost: attempt `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				log := &lines{}
				p := proposal()
				p.Renew = true

				res := b.another(claim.WithLogger(log.logger())).Do(b.Context(), p, func(ctx context.Context) error { return tt.work(ctx, b) })
				b.want(res, tt.outcome)
				log.want(b, fmt.Sprintf("%s run=%s attempt_id=%s%s", tt.want, p.Run, res.AttemptID, tt.rest))
			})
		})
	}
}

func TestAnObserverIsToldWhichAttemptOfWhichRun(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Renew = true

		b.store.After(times(1, memclaim.Swap, errWire)) // the reply to the renewal
		res := b.claimer.Do(b.Context(), p, func(context.Context) error {
			time.Sleep(lease / 2)

			return nil
		})
		b.want(res, claim.OutcomeExecuted)

		told := map[claim.EventKind]claim.Event{}
		for _, e := range b.events.list {
			if e.ID != runID || e.Store != "memory" {
				b.Errorf("%s of run %s in store %q", e.Kind, e.ID, e.Store)
			}

			told[e.Kind] = e
		}

		for kind, took := range map[claim.EventKind]time.Duration{
			claim.EventClaimed: 0, claim.EventRenewed: 0, claim.EventExecuted: lease / 2,
		} {
			if e := told[kind]; e.Run != p.Run || e.Attempt != 1 || e.AttemptID != res.AttemptID || e.Err != nil || e.Duration != took {
				b.Errorf("%s: %+v", kind, e)
			}
		}

		if e := told[claim.EventStoreError]; e.Verb != "swap" || !errors.Is(e.Err, errWire) {
			b.Errorf("store_error: %+v", e)
		}
	})
}
