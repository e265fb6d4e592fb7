package inbox_test

import (
	"bytes"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

func keptAsItCame(t *testing.T, s suite) {
	for _, payload := range [][]byte{[]byte(`{"type":"contact.updated"}`), {0, 1, 0xff, '\n'}, {}, nil, bytes.Repeat([]byte("x"), 100_000)} {
		e := webhook.NewEntry("acme ☂ eu", "msg_"+tableName(), "application/json; charset=utf-8", payload)
		if receipt := s.accept(t, e); receipt != (webhook.Receipt{}) {
			t.Errorf("receipt %+v for a new event", receipt)
		}
		row, got := s.get(t, e.ID), s.load(t, e.ID)
		if !bytes.Equal(got.Payload, payload) {
			t.Errorf("payload of %d bytes, want %d", len(got.Payload), len(payload))
		}
		if age := row.Now.Sub(got.ReceivedAt); age < -time.Minute || age > time.Minute { // whoever's clock it is
			t.Errorf("received %v ago", age)
		}
		got.Payload, got.ReceivedAt = nil, time.Time{}
		if want := (webhook.Event{
			ID: e.ID, Name: e.Name, Source: e.Source, WebhookID: e.WebhookID, ContentType: e.ContentType, Fingerprint: e.Fingerprint,
		}); !equal(got, want) {
			t.Errorf("loaded %+v, want %+v", got, want)
		}
		if row.Status != claim.StatusReleased || row.Attempt != 0 || row.Counted != 0 || row.Run != e.Name || row.Fingerprint != e.Fingerprint || !row.ExpireAt.IsZero() {
			t.Errorf("record %+v", row.Record)
		}
	}
	large := webhook.NewEntry("acme", "msg_large", "", make([]byte, s.inbox.MaxPayload()+1))
	if _, err := s.inbox.Accept(t.Context(), large); err == nil || !s.missing(t, large.ID) {
		t.Errorf("a payload beyond MaxPayload: %v", err)
	}
	if !s.missing(t, entry("never came", "").ID) {
		t.Error("an event is there that never came")
	}
}

func equal(a, b webhook.Event) bool {
	return bytes.Equal(a.Payload, b.Payload) && a.ID == b.ID && a.Name == b.Name && a.Source == b.Source && a.WebhookID == b.WebhookID &&
		a.ContentType == b.ContentType && a.Fingerprint == b.Fingerprint && a.ReceivedAt.Equal(b.ReceivedAt) && a.Attempt == b.Attempt && a.Conflicts == b.Conflicts
}

func oneStores(t *testing.T, s suite) {
	const events, deliveries = 5, 8
	clients := []suite{s, {s.subject, s.open(t)}, {s.subject, s.open(t)}}
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		accepted = map[string]int{}
	)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		for n := range deliveries {
			wg.Go(func() {
				// A delivery that only met others is one that the sender repeats.
				rc := clients[n%len(clients)].receiver(t, "acme")
				for range 20 {
					code, outcome := deliver(t, rc, id, `{}`)
					if code == http.StatusServiceUnavailable {
						continue
					}
					mu.Lock()
					defer mu.Unlock()
					if code != http.StatusOK {
						t.Errorf("delivery %d of %s: %d", n, id, code)
					}
					accepted[id] += map[string]int{webhook.OutcomeAccepted: 1, webhook.OutcomeDuplicate: 0}[outcome]
					return
				}
				t.Errorf("delivery %d of %s was never stored", n, id)
			})
		}
	}
	wg.Wait()
	rows := 0
	for _, err := range s.inbox.List(t.Context(), claim.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != events {
		t.Errorf("%d rows, want %d", rows, events)
	}
	for id, n := range accepted {
		if n > 1 {
			t.Errorf("%d deliveries of %s were told that they were the first", n, id)
		}
	}
}

func anotherBody(t *testing.T, s suite) {
	e := entry("msg_1", `{"amount":1}`)
	rc := s.receiver(t, "acme")
	strict := s.receiver(t, "acme", func(cfg *webhook.ReceiverConfig) { cfg.ConflictStatus = http.StatusConflict })
	for _, step := range []struct {
		handler http.Handler
		body    string
		code    int
		outcome string
	}{
		{rc, `{"amount":1}`, http.StatusOK, webhook.OutcomeAccepted},
		{strict, `{"amount":1}`, http.StatusOK, webhook.OutcomeDuplicate},
		{rc, `{"amount":2}`, http.StatusOK, webhook.OutcomeDuplicate},
		{strict, `{"amount":2}`, http.StatusConflict, webhook.OutcomeConflict},
		{strict, `{"amount":1}`, http.StatusOK, webhook.OutcomeDuplicate},
	} {
		if code, outcome := deliver(t, step.handler, "msg_1", step.body); code != step.code || outcome != step.outcome {
			t.Errorf("%s: %d %q, want %d %q", step.body, code, outcome, step.code, step.outcome)
		}
	}
	got := s.load(t, e.ID)
	if string(got.Payload) != `{"amount":1}` || got.Fingerprint != e.Fingerprint {
		t.Errorf("the event became %s", got.Payload)
	}
	if want := map[bool]int{true: 2}[s.counts]; got.Conflicts != want {
		t.Errorf("%d conflicts, want %d", got.Conflicts, want)
	}
	if receipt := s.accept(t, entry("msg_1", `{"amount":3}`)); receipt != (webhook.Receipt{Duplicate: true, Differs: true}) {
		t.Errorf("receipt %+v", receipt)
	}
}

func failedTransaction(t *testing.T, s suite) {
	closed := suite{s.subject, s.open(t)}
	rc := closed.receiver(t, "acme")
	if err := closed.inbox.Close(); err != nil {
		t.Fatal(err)
	}
	if code, outcome := deliver(t, rc, "msg_1", `{}`); code != http.StatusServiceUnavailable || outcome != "" {
		t.Errorf("over a store that is gone: %d %q", code, outcome)
	}
	if !s.missing(t, entry("msg_1", "").ID) {
		t.Error("it was stored")
	}
	if s.breakSource == nil {
		return
	}
	s.breakSource(t, "broken")
	if code, outcome := deliver(t, s.receiver(t, "broken"), "msg_1", `{}`); code != http.StatusServiceUnavailable || outcome != "" {
		t.Errorf("a transaction that fails: %d %q", code, outcome)
	}
	if !s.missing(t, webhook.NewEntry("broken", "msg_1", "", nil).ID) {
		t.Error("half of it was stored")
	}
	if code, outcome := deliver(t, s.receiver(t, "acme"), "msg_1", `{}`); code != http.StatusOK || outcome != webhook.OutcomeAccepted {
		t.Errorf("another source: %d %q", code, outcome)
	}
}

func separateEvents(t *testing.T, s suite) {
	for _, e := range []webhook.Entry{entry("msg_1", `{}`), entry("msg_2", `{}`), webhook.NewEntry("other", "msg_1", "", []byte(`{}`))} {
		if receipt := s.accept(t, e); receipt.Duplicate {
			t.Errorf("%s of %s is taken for another event", e.WebhookID, e.Source)
		}
	}
	if drained := drain(t, s.worker(t, nothing)); drained != (webhook.Drained{Taken: 3, Completed: 3}) {
		t.Errorf("%+v", drained)
	}
}

func dueOnce(t *testing.T, s suite) {
	var ids []string
	for range 4 {
		e := entry("msg_"+tableName(), `{}`)
		s.accept(t, e)
		ids = append(ids, e.ID)
		was := s.get(t, e.ID)
		eventually(t, "the store's clock goes on", func() bool { return s.get(t, e.ID).Now.Sub(was.Now) >= 2*time.Millisecond })
	}
	before := s.get(t, ids[0])
	for _, limit := range []int{1, 2, 8} {
		found, err := s.inbox.Due(t.Context(), limit, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		want := ids[:min(limit, len(ids))]
		if s.holds {
			ids = ids[len(want):]
		}
		if len(found) != len(want) {
			t.Fatalf("%d due events, want %d", len(found), len(want))
		}
		for i, e := range found {
			if e.ID != want[i] || string(e.Payload) != `{}` {
				t.Errorf("due event %d is %s, %s", i, e.WebhookID, e.Payload)
			}
		}
	}
	if after := s.get(t, before.ID); after.Version != before.Version || !after.Written.Equal(before.Written) {
		t.Errorf("being found changed the record from %q of %v to %q of %v", before.Version, before.Written, after.Version, after.Written)
	}
}
