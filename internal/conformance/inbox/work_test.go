package inbox_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

var errNotNow = errors.New("not now")

func completed(t *testing.T, s suite) {
	e := entry("msg_1", `{"n":1}`)
	s.accept(t, e)
	var seen []webhook.Event
	w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
		carried, _ := webhook.FromContext(ctx)
		if carried.ID != e.ID {
			t.Errorf("the context carries %+v", carried)
		}
		seen = append(seen, e)
		return nil
	}, func(cfg *webhook.WorkerConfig) { cfg.Retention = 100 * time.Hour })
	if drained := drain(t, w); drained != (webhook.Drained{Taken: 1, Completed: 1}) {
		t.Errorf("%+v", drained)
	}
	if len(seen) != 1 || seen[0].Attempt != 1 || string(seen[0].Payload) != `{"n":1}` || seen[0].WebhookID != "msg_1" || seen[0].Source != "acme" {
		t.Errorf("the work saw %+v", seen)
	}
	row := s.get(t, e.ID)
	if row.Status != claim.StatusCompleted || row.Attempt != 1 || row.Counted != 1 || len(row.Result) != 0 {
		t.Errorf("record %+v", row.Record)
	}
	if kept := row.ExpireAt.Sub(row.Written); kept < 99*time.Hour || kept > 101*time.Hour {
		t.Errorf("it is kept for %v", kept)
	}
	if drained := drain(t, w); drained != (webhook.Drained{}) {
		t.Errorf("drained again: %+v", drained)
	}
}

func neverExpire(t *testing.T, s suite) {
	e := entry("msg_1", `{}`)
	s.accept(t, e)
	check := func(want claim.Status) {
		t.Helper()
		if row := s.get(t, e.ID); row.Status != want || !row.ExpireAt.IsZero() {
			t.Errorf("%s, expires at %v; want %s and never", row.Status, row.ExpireAt, want)
		}
	}
	check(claim.StatusReleased)
	attempts := 0
	w := s.worker(t, func(context.Context, webhook.Event) error {
		check(claim.StatusInProgress)
		if attempts++; attempts < 3 {
			return errNotNow
		}
		return claim.Permanent(errNotNow)
	}, func(cfg *webhook.WorkerConfig) { cfg.DrainLimit = 1 })
	for n := 1; n < 3; n++ {
		drainUntil(t, w, "one more attempt", func() bool { return attempts == n })
		check(claim.StatusReleased)
	}
	drainUntil(t, w, "the last attempt", func() bool { return attempts == 3 })
	check(claim.StatusFailed)
}

func backsOff(t *testing.T, s suite) {
	e, other := entry("msg_1", `{}`), entry("msg_2", `{}`)
	s.accept(t, e)
	w := s.worker(t, func(context.Context, webhook.Event) error { return errNotNow },
		func(cfg *webhook.WorkerConfig) { cfg.Backoff = webhook.Backoff{Min: time.Hour, Max: 5 * time.Hour} })
	for n, want := range []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 5 * time.Hour, 5 * time.Hour} {
		if drained := drain(t, w); drained != (webhook.Drained{Taken: 1, Released: 1}) {
			t.Fatalf("attempt %d: %+v", n+1, drained)
		}
		row := s.get(t, e.ID)
		if row.Status != claim.StatusReleased || row.Attempt != n+1 || row.LastError != errNotNow.Error() {
			t.Fatalf("after attempt %d: %+v", n+1, row.Record)
		}
		if wait := row.LeaseExpires.Sub(row.Written); wait < want-time.Minute || wait > want+time.Minute { // by two clocks
			t.Errorf("after attempt %d it waits for %v, want %v", n+1, wait, want)
		}
		if drained := drain(t, w); drained != (webhook.Drained{}) {
			t.Fatalf("it did not wait: %+v", drained)
		}
		if n == 4 {
			break
		}
		r := row.Record // the time has come
		r.LeaseExpires = row.Now
		r.Rev++
		if _, ok, err := s.inbox.Swap(t.Context(), e.ID, row.Version, r); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	// One that came meanwhile is not held up by one that waits.
	s.accept(t, other)
	if drained := drain(t, s.worker(t, nothing)); drained != (webhook.Drained{Taken: 1, Completed: 1}) {
		t.Errorf("%+v", drained)
	}
}

func requeued(t *testing.T, s suite) {
	e := entry("msg_1", `{"n":1}`)
	s.accept(t, e)
	s.accept(t, entry("msg_2", `{}`))
	broken := errors.New("no such contact")
	w := s.worker(t, func(_ context.Context, e webhook.Event) error {
		if e.WebhookID == "msg_1" {
			return broken
		}
		return nil
	}, func(cfg *webhook.WorkerConfig) { cfg.MaxAttempts = 2 })
	drainUntil(t, w, "it is dead", func() bool { return s.get(t, e.ID).Status == claim.StatusFailed })

	var dead []webhook.DeadEvent
	for d, err := range webhook.Dead(t.Context(), s.inbox) {
		if err != nil {
			t.Fatal(err)
		}
		dead = append(dead, d)
	}
	if len(dead) != 1 || dead[0].WebhookID != "msg_1" || string(dead[0].Payload) != `{"n":1}` || dead[0].Attempts != 2 ||
		dead[0].LastError != broken.Error() || dead[0].Status != claim.StatusFailed || dead[0].AttemptID == "" {
		t.Fatalf("dead list %+v", dead)
	}
	if drained := drain(t, w); drained != (webhook.Drained{}) {
		t.Errorf("a dead event was taken: %+v", drained)
	}
	if receipt := s.accept(t, e); !receipt.Duplicate || s.get(t, e.ID).Status != claim.StatusFailed {
		t.Errorf("delivered again: %+v", receipt)
	}
	if err := webhook.Requeue(t.Context(), s.inbox, e.ID, "another"); !errors.Is(err, claim.ErrLost) {
		t.Errorf("requeued by another attempt's id: %v", err)
	}
	for range 2 { // the second one is no error
		if err := webhook.Requeue(t.Context(), s.inbox, e.ID, dead[0].AttemptID); err != nil {
			t.Fatal(err)
		}
	}
	if row := s.get(t, e.ID); row.Status != claim.StatusReleased || row.Counted != 0 || !row.ExpireAt.IsZero() {
		t.Errorf("requeued: %+v", row.Record)
	}
	if drained := drain(t, s.worker(t, nothing)); drained != (webhook.Drained{Taken: 1, Completed: 1}) {
		t.Errorf("after the requeue: %+v", drained)
	}
	row := s.get(t, e.ID)
	if row.Attempt != 3 || row.ExpireAt.IsZero() {
		t.Errorf("record %+v", row.Record)
	}
	if err := webhook.Requeue(t.Context(), s.inbox, e.ID, row.AttemptID); !errors.Is(err, webhook.ErrNotDead) {
		t.Errorf("a completed event requeued: %v", err)
	}
	if err := webhook.Requeue(t.Context(), s.inbox, entry("gone", "").ID, "x"); !errors.Is(err, claim.ErrNotFound) {
		t.Errorf("an event that is not there: %v", err)
	}
}

func takenOver(t *testing.T, s suite) {
	e := entry("msg_1", `{}`)
	s.accept(t, e)
	was := s.get(t, e.ID)
	// What a process leaves that died after its claim.
	r := was.Record
	r.Status, r.AttemptID, r.Attempt, r.Counted, r.Holder = claim.StatusInProgress, "00112233445566778899aabbccddeeff", 1, 1, "dead"
	r.Rev++
	r.Lease, r.ClaimedAt = s.patience, was.Now
	r.LeaseExpires = was.Now.Add(s.patience)
	claimed, ok, err := s.inbox.Swap(t.Context(), e.ID, was.Version, r)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	attempts := []int{}
	w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
		attempts = append(attempts, e.Attempt)
		return s.apply(ctx, e.ID, guard{})
	})
	drainUntil(t, w, "another worker has done it", func() bool { return s.get(t, e.ID).Status == claim.StatusCompleted })
	row := s.get(t, e.ID)
	if len(attempts) != 1 || attempts[0] != 2 || s.effects(t, e.ID) != 1 {
		t.Errorf("attempts %v, %d effects", attempts, s.effects(t, e.ID))
	}
	if after := row.Written.Sub(claimed.Written); after < s.patience {
		t.Errorf("it was taken over and completed %v after the claim, which held for %v", after, s.patience)
	}
	r.Status = claim.StatusCompleted
	r.Rev++
	if _, ok, err := s.inbox.Swap(t.Context(), e.ID, claimed.Version, r); ok || err != nil {
		t.Errorf("the dead attempt wrote after the takeover: %v, %v", ok, err)
	}
}

func drainBounded(t *testing.T, s suite) {
	const events = 6
	for range events {
		s.accept(t, entry("msg_"+tableName(), `{}`))
	}
	var running, most atomic.Int32
	w := s.worker(t, func(context.Context, webhook.Event) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		return nil
	}, func(cfg *webhook.WorkerConfig) { cfg.DrainLimit, cfg.Concurrency = 4, 2 })
	if drained := drain(t, w); drained != (webhook.Drained{Taken: 4, Completed: 4, More: true}) {
		t.Errorf("%+v", drained)
	}
	if drained := drain(t, w); drained != (webhook.Drained{Taken: 2, Completed: 2}) {
		t.Errorf("%+v", drained)
	}
	if most.Load() > 2 {
		t.Errorf("%d works at once", most.Load())
	}
	// A work that outlives DrainFor ends, and nothing is taken after it.
	for range 2 {
		s.accept(t, entry("msg_"+tableName(), `{}`))
	}
	const span = 50 * time.Millisecond
	timed := s.worker(t, func(ctx context.Context, _ webhook.Event) error {
		time.Sleep(2 * span)
		return ctx.Err()
	}, func(cfg *webhook.WorkerConfig) { cfg.DrainFor, cfg.Concurrency = span, 1 })
	eventually(t, "one event is taken in the time, and one is not", func() bool {
		drained := drain(t, timed)
		if drained.Taken > 1 || drained.Completed != drained.Taken || !drained.More {
			t.Fatalf("%+v", drained)
		}
		return drained.Taken == 1
	})
}

func sideBySide(t *testing.T, s suite) {
	const events, workers = 30, 3
	var wg sync.WaitGroup
	ids := make(map[string]bool, events)
	for range events {
		e := entry("msg_"+tableName(), `{}`)
		ids[e.ID] = true
		s.accept(t, e)
	}
	ctx, stop := context.WithCancel(t.Context())
	for range workers {
		w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
			if e.Attempt == 1 && e.ID[0] < '4' { // a quarter of them
				return errNotNow
			}
			return s.apply(ctx, e.ID, guard{})
		}, func(cfg *webhook.WorkerConfig) { cfg.Concurrency = 4 })
		wg.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all are completed", func() bool {
		done := 0
		for _, err := range s.inbox.List(t.Context(), claim.Filter{Statuses: []claim.Status{claim.StatusCompleted}}) {
			if err != nil {
				t.Fatal(err)
			}
			done++
		}
		return done == events
	})
	stop()
	wg.Wait()
	for id := range ids {
		if n := s.effects(t, id); n != 1 {
			t.Errorf("event %s has %d effects", id, n)
		}
	}
}

func replayed(t *testing.T, s suite) {
	rc := s.receiver(t, "acme")
	w := s.worker(t, func(ctx context.Context, e webhook.Event) error { return s.apply(ctx, e.WebhookID, guard{}) })
	for n, want := range []string{webhook.OutcomeAccepted, webhook.OutcomeDuplicate, webhook.OutcomeDuplicate} {
		if code, outcome := deliver(t, rc, "msg_1", `{}`); code != 200 || outcome != want {
			t.Errorf("delivery %d: %d %q, want %q", n+1, code, outcome, want)
		}
		drain(t, w)
	}
	if n := s.effects(t, "msg_1"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func givenBack(t *testing.T, s suite) {
	e := entry("msg_1", `{}`)
	s.accept(t, e)
	began := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	w := s.worker(t, func(ctx context.Context, _ webhook.Event) error {
		close(began)
		<-ctx.Done()
		return context.Cause(ctx)
	}, func(cfg *webhook.WorkerConfig) { cfg.Backoff = webhook.Backoff{Min: time.Hour, Max: time.Hour} })
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	<-began
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	row := s.get(t, e.ID)
	if row.Status != claim.StatusReleased || row.Attempt != 1 || row.Counted != 0 || !row.ExpireAt.IsZero() {
		t.Errorf("record %+v", row.Record)
	}
	drainUntil(t, s.worker(t, nothing), "another worker has done it", func() bool { return s.get(t, e.ID).Status == claim.StatusCompleted })
}
