package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

func worker(t *testing.T, inbox webhook.Inbox, work webhook.Work, change ...func(*webhook.WorkerConfig)) *webhook.Worker {
	t.Helper()
	cfg := webhook.WorkerConfig{Inbox: inbox, Work: work, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&cfg)
	}
	w, err := webhook.NewWorker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func accept(t *testing.T, inbox webhook.Inbox, source, id string) webhook.Entry {
	t.Helper()
	e := webhook.NewEntry(source, id, "", []byte("body of "+id))
	if _, err := inbox.Accept(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return e
}

func record(t *testing.T, inbox webhook.Inbox, id string) claim.Snapshot {
	t.Helper()
	found, err := inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func drain(t *testing.T, w *webhook.Worker) webhook.Drained {
	t.Helper()
	drained, err := w.Drain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return drained
}

func TestHowAWorkEndsDecidesWhatBecomesOfItsEvent(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	for name, test := range map[string]struct {
		work   webhook.Work
		want   webhook.Drained
		status claim.Status
		result string
		says   string
	}{
		"nil":       {func(context.Context, webhook.Event) error { return nil }, webhook.Drained{Completed: 1}, claim.StatusCompleted, "", ""},
		"an error":  {func(context.Context, webhook.Event) error { return errBroken }, webhook.Drained{Released: 1}, claim.StatusReleased, "", "broken"},
		"permanent": {func(context.Context, webhook.Event) error { return claim.Permanent(errBroken) }, webhook.Drained{Dead: 1}, claim.StatusFailed, "", "broken"},
		"unknown":   {func(context.Context, webhook.Event) error { return claim.Unknown(errBroken) }, webhook.Drained{Dead: 1}, claim.StatusUnknown, "", "broken"},
		"a panic":   {func(context.Context, webhook.Event) error { panic("oh") }, webhook.Drained{Released: 1}, claim.StatusReleased, "", "panicked: oh"},
		"superseded": {
			func(context.Context, webhook.Event) error { return fmt.Errorf("contact: %w", webhook.ErrSuperseded) },
			webhook.Drained{Superseded: 1}, claim.StatusCompleted, webhook.ResultSuperseded, "",
		},
		"a result of its own": {
			func(ctx context.Context, _ webhook.Event) error {
				a, _ := claim.FromContext(ctx)
				return a.SetResult([]byte("applied"))
			},
			webhook.Drained{Completed: 1}, claim.StatusCompleted, "applied", "",
		},
		"completed in a transaction": {
			func(ctx context.Context, _ webhook.Event) error {
				return memclaim.CompleteTx(ctx, func(context.Context) error { return nil })
			},
			webhook.Drained{Completed: 1}, claim.StatusCompleted, "", "",
		},
		"superseded in a transaction": {
			func(ctx context.Context, _ webhook.Event) error {
				return memclaim.CompleteTx(ctx, func(context.Context) error { return webhook.ErrSuperseded })
			},
			webhook.Drained{Superseded: 1}, claim.StatusCompleted, webhook.ResultSuperseded, "",
		},
		"an error after its transaction": {
			func(ctx context.Context, _ webhook.Event) error {
				return errors.Join(memclaim.CompleteTx(ctx, func(context.Context) error { return nil }), errBroken)
			},
			webhook.Drained{Completed: 1}, claim.StatusCompleted, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inbox := meminbox.New()
			e := accept(t, inbox, "acme", "msg_1")
			test.want.Taken = 1
			if drained := drain(t, worker(t, inbox, test.work)); drained != test.want {
				t.Errorf("%+v, want %+v", drained, test.want)
			}
			got := record(t, inbox, e.ID)
			if got.Status != test.status || string(got.Result) != test.result || !strings.Contains(got.LastError, test.says) {
				t.Errorf("record %+v", got.Record)
			}
			if got.ExpireAt.IsZero() == (test.status == claim.StatusCompleted) {
				t.Errorf("%s, expires at %v", got.Status, got.ExpireAt)
			}
		})
	}
}

func TestEachSourceHasItsWork(t *testing.T) {
	t.Parallel()
	inbox := meminbox.New()
	for _, source := range []string{"acme", "other", "unknown"} {
		accept(t, inbox, source, "msg_1")
	}
	unknown := webhook.NewEntry("unknown", "msg_1", "", nil)
	var seen []string
	note := func(name string) webhook.Work {
		return func(_ context.Context, e webhook.Event) error {
			seen = append(seen, name+" "+e.Source+" "+string(e.Payload))
			return nil
		}
	}
	w := worker(t, inbox, nil, func(cfg *webhook.WorkerConfig) {
		cfg.Works, cfg.Concurrency = map[string]webhook.Work{"acme": note("acme's"), "other": note("other's")}, 1
	})
	if drained := drain(t, w); drained != (webhook.Drained{Taken: 3, Completed: 2, Released: 1}) {
		t.Errorf("%+v", drained)
	}
	if got := record(t, inbox, unknown.ID); got.Status != claim.StatusReleased || !strings.Contains(got.LastError, `source "unknown"`) {
		t.Errorf("an event without a work: %+v", got.Record)
	}
	if strings.Join(seen, ", ") != "acme's acme body of msg_1, other's other body of msg_1" {
		t.Errorf("%q", seen)
	}
}

// TestTheLoopTriesAgainAfterItsBackoff runs on a clock of its own.
func TestTheLoopTriesAgainAfterItsBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		began := time.Now()
		var after []time.Duration
		w := worker(t, inbox, func(_ context.Context, e webhook.Event) error {
			after = append(after, time.Since(began).Round(100*time.Millisecond))
			if e.Attempt != len(after) {
				t.Errorf("attempt %d is told to be %d", len(after), e.Attempt)
			}
			return errors.New("not now")
		}, func(cfg *webhook.WorkerConfig) {
			cfg.Poll, cfg.MaxAttempts, cfg.Backoff = 100*time.Millisecond, 5, webhook.Backoff{Min: time.Second, Max: 3 * time.Second}
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		e := accept(t, inbox, "acme", "msg_1")
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := record(t, inbox, e.ID); got.Status != claim.StatusFailed || got.Attempt != 5 || !got.ExpireAt.IsZero() {
			t.Errorf("record %+v", got.Record)
		}
		// Each pause is rounded up to the next look.
		want := []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}
		if len(after) != len(want) {
			t.Fatalf("attempts after %v, want %v", after, want)
		}
		for i := range want {
			if late := after[i] - want[i]; late < 0 || late > time.Second {
				t.Errorf("attempts after %v, want %v", after, want)
			}
		}
	})
}

func TestWakeMakesTheLoopLookAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		done := make(chan struct{})
		w := worker(t, inbox, func(context.Context, webhook.Event) error { close(done); return nil },
			func(cfg *webhook.WorkerConfig) { cfg.Poll = time.Hour })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		accept(t, inbox, "acme", "msg_1")
		w.Wake()
		w.Wake() // more than one is one
		<-done
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("it looked after %v", waited)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if drained, err := w.Drain(t.Context()); !errors.Is(err, claim.ErrShutdown) || drained.Taken != 0 {
			t.Errorf("a worker that has ended: %+v, %v", drained, err)
		}
	})
}

func TestRunSaysWhichWorksDidNotReturn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := meminbox.New()
		accept(t, inbox, "acme", "msg_1")
		began, release := make(chan struct{}), make(chan struct{})
		w := worker(t, inbox, func(context.Context, webhook.Event) error {
			close(began)
			<-release
			return nil
		}, func(cfg *webhook.WorkerConfig) { cfg.Grace = time.Second })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		<-began
		stop()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "1 of the running attempts") {
			t.Error(err)
		}
		close(release)
	})
}

// unholding is an inbox that cannot hide what it returned, as Firestore.
type unholding struct {
	*meminbox.Store

	asked atomic.Int32
}

func (s *unholding) Due(ctx context.Context, limit int, _ time.Duration) ([]webhook.Event, error) {
	s.asked.Add(1)
	return s.Store.Due(ctx, limit, 0)
}

func TestAWorkerLooksPastItsOwnEventsWhereTheInboxCannotHideThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := &unholding{Store: meminbox.New()}
		inbox.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
			if verb == memclaim.Swap { // so that claims take a while, in which their events are due still
				time.Sleep(500 * time.Millisecond)
			}
			return nil
		})
		const events = 20
		for n := range events {
			accept(t, inbox, "acme", fmt.Sprint("msg_", n))
		}
		var works atomic.Int32
		w := worker(t, inbox, func(context.Context, webhook.Event) error { works.Add(1); return nil },
			func(cfg *webhook.WorkerConfig) { cfg.Concurrency = 4 })
		if drained := drain(t, w); drained != (webhook.Drained{Taken: events, Completed: events}) || works.Load() != events {
			t.Errorf("%+v, %d works", drained, works.Load())
		}
		if asked := inbox.asked.Load(); asked > 4*events {
			t.Errorf("asked %d times for %d events", asked, events)
		}
	})
}

func TestAnEventThatAnotherHoldsIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := &unholding{Store: meminbox.New()}
		e := accept(t, inbox, "acme", "msg_1")
		r := record(t, inbox, e.ID).Record
		r.Status, r.AttemptID, r.Attempt, r.Counted, r.Lease = claim.StatusInProgress, "another", 1, 1, 10*time.Second // due by its clock
		inbox.Put(e.ID, r)
		w := worker(t, inbox, func(context.Context, webhook.Event) error { return nil }, func(cfg *webhook.WorkerConfig) { cfg.Poll = time.Second })
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
		if asked := inbox.asked.Load(); asked > 20 {
			t.Errorf("asked %d times in five seconds", asked)
		}
		if got := record(t, inbox, e.ID); got.AttemptID != "another" {
			t.Errorf("it was taken: %+v", got.Record)
		}
	})
}

// purging is an inbox that counts its purges.
type purging struct {
	*meminbox.Store

	purges atomic.Int32
}

func (s *purging) Purge(context.Context) (int64, error) { s.purges.Add(1); return 1, nil }

func TestExpiredEventsAreDeletedOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := &purging{Store: meminbox.New()}
		w := worker(t, inbox, func(context.Context, webhook.Event) error { return nil })
		for range 3 {
			drain(t, w)
			drain(t, w)
			time.Sleep(time.Hour)
		}
		if n := inbox.purges.Load(); n != 3 {
			t.Errorf("%d purges in three hours", n)
		}
	})
}

// crowded is an inbox in which a purge never comes to its end.
type crowded struct{ *meminbox.Store }

func (crowded) Purge(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() }

func TestAPurgeThatRunsOutOfTimeIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := worker(t, crowded{meminbox.New()}, func(context.Context, webhook.Event) error { return nil },
			func(cfg *webhook.WorkerConfig) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		drain(t, w)
		if !strings.Contains(log.String(), "expired events not deleted") {
			t.Errorf("the log does not tell of it: %s", &log)
		}
	})
}

func TestWhatIsGivenUpIsLoggedWithoutItsPayload(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	inbox := meminbox.New()
	accept(t, inbox, "acme", "msg_1")
	w := worker(t, inbox, func(context.Context, webhook.Event) error { return claim.Permanent(errors.New("no such contact")) },
		func(cfg *webhook.WorkerConfig) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	drain(t, w)
	for _, want := range []string{"level=ERROR", "event given up", "webhook_id=msg_1", "no such contact", "attempt=1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "body of") {
		t.Errorf("the log tells the payload:\n%s", log.String())
	}
}

func TestAnEventIsLoggedWithoutItsPayload(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := webhook.Event{ID: "0f", Source: "acme", WebhookID: "msg_1", Payload: []byte("confidential"), Attempt: 2}
	slog.New(slog.NewTextHandler(&log, nil)).Info("seen", "event", e)
	if text := log.String(); !strings.Contains(text, "event.source=acme event.webhook_id=msg_1 event.id=0f event.attempt=2") || strings.Contains(text, "confidential") {
		t.Error(text)
	}
}

func TestAWorkerThatCannotBeRightIsRefused(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, webhook.Event) error { return nil }
	for want, change := range map[string]func(*webhook.WorkerConfig){
		"Inbox is missing":            func(cfg *webhook.WorkerConfig) { cfg.Inbox = nil },
		"Work and Works are missing":  func(cfg *webhook.WorkerConfig) { cfg.Work = nil },
		`Works["acme"] is nil`:        func(cfg *webhook.WorkerConfig) { cfg.Works = map[string]webhook.Work{"acme": nil} },
		"must not be negative":        func(cfg *webhook.WorkerConfig) { cfg.Poll = -1 },
		"Lease is 30s":                func(cfg *webhook.WorkerConfig) { cfg.Lease = 30 * time.Second },
		"Backoff is from 2s to 1s":    func(cfg *webhook.WorkerConfig) { cfg.Backoff = webhook.Backoff{Min: 2 * time.Second, Max: time.Second} },
		"Backoff is from -1s to":      func(cfg *webhook.WorkerConfig) { cfg.Backoff.Min = -time.Second },
		"the sender retries for 76h":  func(cfg *webhook.WorkerConfig) { cfg.Retention = time.Hour },
		"RetryHorizon and Retention":  func(cfg *webhook.WorkerConfig) { cfg.Retention = -time.Hour },
		"the sender retries for 240h": func(cfg *webhook.WorkerConfig) { cfg.RetryHorizon, cfg.Retention = 240*time.Hour, 240*time.Hour },
	} {
		cfg := webhook.WorkerConfig{Inbox: meminbox.New(), Work: nothing}
		change(&cfg)
		if _, err := webhook.NewWorker(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q: %v", want, err)
		}
	}
	for _, backoff := range []webhook.Backoff{{}, {Min: time.Minute}, {Max: time.Second}, {Min: 2 * time.Hour}} {
		if _, err := webhook.NewWorker(webhook.WorkerConfig{Inbox: meminbox.New(), Work: nothing, Backoff: backoff}); err != nil {
			t.Errorf("%+v: %v", backoff, err)
		}
	}
}

func TestTheBackoffDoublesUpToItsMost(t *testing.T) {
	t.Parallel()
	b := webhook.Backoff{Min: 5 * time.Second, Max: time.Hour}
	for attempts, want := range map[int]time.Duration{
		-1: 0, 0: 0, 1: 5 * time.Second, 2: 10 * time.Second, 3: 20 * time.Second, 10: 2560 * time.Second, 11: time.Hour, 1 << 30: time.Hour,
	} {
		if got := b.After(attempts); got != want {
			t.Errorf("after %d attempts %v, want %v", attempts, got, want)
		}
	}
}
