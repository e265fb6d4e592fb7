package webhooktest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/webhooktest"
)

const payload = `{"type": "invoice.paid"}`

func deliveries(t *testing.T, work webhook.Work) *webhooktest.Deliveries {
	t.Helper()
	return webhooktest.New(t, func(inbox webhook.Inbox) (http.Handler, *webhook.Worker) {
		verifier, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{webhooktest.Secret}})
		if err != nil {
			t.Fatal(err)
		}
		receiver, err := webhook.NewReceiver(webhook.ReceiverConfig{Inbox: inbox, Source: "test", Verifier: verifier})
		if err != nil {
			t.Fatal(err)
		}
		worker, err := webhook.NewWorker(webhook.WorkerConfig{Inbox: inbox, Work: work, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return receiver, worker
	})
}

func TestDuplicatesAreWorkedOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	d := deliveries(t, func(context.Context, webhook.Event) error { calls.Add(1); return nil })
	d.SendAtOnce(10, "msg_1", payload)
	if got := d.Send("msg_1", payload); got != webhook.OutcomeDuplicate {
		t.Errorf("one more delivery was answered %s", got)
	}
	if got := d.Work(); got.Completed != 1 || calls.Load() != 1 {
		t.Errorf("%+v, %d calls", got, calls.Load())
	}
}

func TestACrashedAttemptIsTakenOver(t *testing.T) {
	t.Parallel()
	var calls, effects atomic.Int32
	d := deliveries(t, func(ctx context.Context, _ webhook.Event) error {
		calls.Add(1)
		return memclaim.CompleteTx(ctx, func(context.Context) error { effects.Add(1); return nil })
	})
	d.Send("msg_1", payload)
	d.Crash()
	if got := d.Work(); got.Taken != 0 {
		t.Errorf("before the lease of the dead attempt ended: %+v", got)
	}
	d.MakeDue()
	if got := d.Work(); got.Taken > 1 {
		t.Errorf("after it: %+v", got)
	}
	if effects.Load() != 1 || calls.Load() == 0 {
		t.Errorf("%d calls had %d effects", calls.Load(), effects.Load())
	}
}

func TestAFailedWorkIsDueAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	d := deliveries(t, func(context.Context, webhook.Event) error {
		if calls.Add(1) == 1 {
			return errors.New("not yet")
		}
		return nil
	})
	d.Send("msg_1", payload)
	if got := d.Work(); got.Released != 1 {
		t.Errorf("first: %+v", got)
	}
	d.MakeDue()
	if got := d.Work(); got.Completed != 1 || calls.Load() != 2 {
		t.Errorf("second: %+v, %d calls", got, calls.Load())
	}
}
