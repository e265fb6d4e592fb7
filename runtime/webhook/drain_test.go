package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

// slow is a work of one minute that ends with its context.
func slow(ctx context.Context, _ webhook.Event) error {
	select {
	case <-time.After(time.Minute):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestADrainTakesNothingThatCouldNotEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			accept(t, inbox, "acme", id)
		}
		w := worker(t, inbox, slow, func(cfg *webhook.WorkerConfig) { cfg.Timeout, cfg.Concurrency = 90*time.Second, 1 })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		drained, err := w.Drain(ctx)
		if err != nil || drained != (webhook.Drained{Taken: 2, Completed: 2, More: true}) || ctx.Err() != nil {
			t.Errorf("%+v, %v", drained, err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if drained, err := w.Drain(short); err == nil || !strings.Contains(err.Error(), "1m30s") || drained.Taken != 0 {
			t.Errorf("in less time than a work may take: %+v, %v", drained, err)
		}
	})
}

func TestADrainThatIsEndedGivesItsEventsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		e := accept(t, inbox, "acme", "msg_1")
		errEnough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errEnough) })
		drained, err := worker(t, inbox, slow).Drain(ctx)
		if !errors.Is(err, errEnough) || drained.Released != 1 {
			t.Errorf("%+v, %v", drained, err)
		}
		if got := record(t, inbox, e.ID); got.Status != claim.StatusReleased || got.LastError != "enough" {
			t.Errorf("record %+v", got.Record)
		}
	})
}

// unreadable is an inbox whose store is away.
type unreadable struct{ *meminbox.Store }

var errAway = errors.New("store is away")

func (unreadable) Due(context.Context, int, time.Duration) ([]webhook.Event, error) {
	return nil, errAway
}

func TestADrainOfAnInboxThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	w := worker(t, unreadable{meminbox.New()}, slow)
	handler, err := w.DrainHandler(func(*http.Request) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Drain(t.Context()); !errors.Is(err, errAway) {
		t.Error(err)
	}
	if err := w.DrainRun(t.Context(), run.Run{}); !errors.Is(err, errAway) {
		t.Error(err)
	}
	if rec := answer(handler, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/drain", nil)); rec.Code != 500 || strings.Contains(rec.Body.String(), "away") {
		t.Errorf("%d %q", rec.Code, rec.Body)
	}
}

func TestTheDrainHandlerSaysWhatItDid(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	accept(t, inbox, "acme", "msg_1")
	w := worker(t, inbox, func(context.Context, webhook.Event) error { return nil })
	if _, err := w.DrainHandler(nil); err == nil || !strings.Contains(err.Error(), "allow is missing") {
		t.Error(err)
	}
	handler, err := w.DrainHandler(func(r *http.Request) error {
		if r.Header.Get("Authorization") == "" {
			return errors.New("no token of ours")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	post := httptest.NewRequestWithContext(ctx, http.MethodPost, "/drain", nil)
	if rec := answer(handler, post); rec.Code != http.StatusForbidden || strings.Contains(rec.Body.String(), "token") {
		t.Errorf("a stranger: %d %q", rec.Code, rec.Body)
	}
	post.Header.Set("Authorization", "Bearer x")
	hangUp() // which does not end it
	rec := answer(handler, post)
	var drained webhook.Drained
	if err := json.Unmarshal(rec.Body.Bytes(), &drained); err != nil || rec.Code != http.StatusOK || drained != (webhook.Drained{Taken: 1, Completed: 1}) {
		t.Errorf("%d %q: %v", rec.Code, rec.Body, err)
	}
	get := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/drain", nil)
	if rec := answer(handler, get); rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d", rec.Code)
	}
}

func TestRequeueLooksAfterWritesWhoseReplyWasLost(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	e := accept(t, inbox, "acme", "msg_1")
	drain(t, worker(t, inbox, func(context.Context, webhook.Event) error { return claim.Permanent(errors.New("broken")) }))
	dead := record(t, inbox, e.ID)
	lost := errors.New("reply lost")
	inbox.After(func(_ context.Context, verb memclaim.Verb, _ string) error {
		if verb == memclaim.Swap {
			return lost
		}
		return nil
	})
	if err := webhook.Requeue(t.Context(), inbox, e.ID, dead.AttemptID); err != nil {
		t.Error(err)
	}
	inbox.After(nil)
	inbox.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
		if verb == memclaim.Swap {
			return lost
		}
		return nil
	})
	inbox.Put(e.ID, dead.Record)
	if err := webhook.Requeue(t.Context(), inbox, e.ID, dead.AttemptID); !errors.Is(err, lost) {
		t.Error(err)
	}
}
