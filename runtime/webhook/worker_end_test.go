package webhook_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

func TestAWorkThatEndsItsGoroutineIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		e := accept(t, inbox, "acme", "msg_1")
		w := worker(t, inbox, func(_ context.Context, e webhook.Event) error {
			if e.Attempt == 1 {
				runtime.Goexit()
			}
			return nil
		})
		if got := drain(t, w); got != (webhook.Drained{Taken: 1, Released: 1}) {
			t.Errorf("the first drain: %+v", got)
		}
		time.Sleep(webhook.DefaultMinBackoff)
		if got := drain(t, w); got != (webhook.Drained{Taken: 1, Completed: 1}) {
			t.Errorf("the second drain: %+v", got)
		}
		if found := record(t, inbox, e.ID); found.Status != claim.StatusCompleted {
			t.Errorf("the event is %s", found.Status)
		}
	})
}

func TestShutdownEndsTheLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := &unholding{Store: meminbox.New()}
		w := worker(t, inbox, func(context.Context, webhook.Event) error { return nil },
			func(cfg *webhook.WorkerConfig) { cfg.Poll = time.Hour })
		ended := make(chan error, 1)
		go func() { ended <- w.Run(context.WithoutCancel(t.Context())) }()
		synctest.Wait()
		asked := inbox.asked.Load()
		if err := w.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if again := inbox.asked.Load(); again != asked {
			t.Errorf("a loop that was shut down looked for events %d times", again-asked)
		}
	})
}
