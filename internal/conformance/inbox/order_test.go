package inbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// change is the payload of events that carry the state of an entity, or a part of it.
type change struct {
	Entity    string    `json:"entity"`
	Timestamp time.Time `json:"timestamp"`
	Part      string    `json:"part,omitempty"`
	State     string    `json:"state"`
}

func (c change) entry(id string) webhook.Entry {
	text, _ := json.Marshal(c)
	return entry(id, string(text))
}

// ordered is a work that applies changes under their guard.
func (s suite) ordered(ctx context.Context, e webhook.Event) error {
	var c change
	if err := json.Unmarshal(e.Payload, &c); err != nil {
		return claim.Permanent(err)
	}
	g := guard{entity: c.Entity, at: c.Timestamp, id: e.ID}
	if c.Part != "" {
		g.at, g.id = time.Time{}, c.Part
	}
	return s.apply(ctx, c.State, g)
}

func superseded(t *testing.T, s suite) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	w := s.worker(t, s.ordered)
	one := webhook.Drained{Taken: 1, Completed: 1}
	late := webhook.Drained{Taken: 1, Superseded: 1}
	for _, step := range []struct {
		id   string
		c    change
		want webhook.Drained
	}{
		{"msg_2", change{Entity: "contact/1", Timestamp: noon, State: "second"}, one},
		{"msg_1", change{Entity: "contact/1", Timestamp: noon.Add(-time.Microsecond), State: "first"}, late},
		{"msg_x", change{Entity: "contact/2", Timestamp: noon.Add(-time.Hour), State: "another entity"}, one},
		{"msg_3", change{Entity: "contact/1", Timestamp: noon.Add(time.Microsecond), State: "third"}, one},
		{"msg_4", change{Entity: "contact/1", Timestamp: noon.In(time.FixedZone("", 3600)), State: "second, in another zone"}, late},
	} {
		e := step.c.entry(step.id)
		s.accept(t, e)
		if drained := drain(t, w); drained != step.want {
			t.Errorf("%s: %+v, want %+v", step.c.State, drained, step.want)
		}
		row, result, effects := s.get(t, e.ID), "", 1
		if step.want == late {
			result, effects = webhook.ResultSuperseded, 0
		}
		if row.Status != claim.StatusCompleted || string(row.Result) != result || row.Attempt != 1 || row.ExpireAt.IsZero() || row.LastError != "" {
			t.Errorf("%s: record %+v", step.c.State, row.Record)
		}
		if n := s.effects(t, step.c.State); n != effects {
			t.Errorf("%s: %d effects, want %d", step.c.State, n, effects)
		}
	}
	// Of one time, the greater id is the later one, whichever comes first.
	a, b := change{Entity: "contact/3", Timestamp: noon, State: "a"}.entry("msg_a"), change{Entity: "contact/3", Timestamp: noon, State: "b"}.entry("msg_b")
	winner := "a"
	if strings.Compare(a.ID, b.ID) < 0 {
		a, b, winner = b, a, "b"
	}
	s.accept(t, a) // the greater one
	drain(t, w)
	s.accept(t, b)
	if drained := drain(t, w); drained != late {
		t.Errorf("%+v", drained)
	}
	if s.effects(t, winner) != 1 || s.effects(t, "a")+s.effects(t, "b") != 1 {
		t.Errorf("%d effects of a, %d of b, want %s alone", s.effects(t, "a"), s.effects(t, "b"), winner)
	}
}

func latestWins(t *testing.T, s suite) {
	const events = 6
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for n := range events {
		at := noon.Add(time.Duration(n*5%events) * time.Second) // not in their order
		s.accept(t, change{Entity: "contact/1", Timestamp: at, State: at.Format(time.TimeOnly)}.entry("msg_"+at.Format("05")))
	}
	done := 0
	w := s.worker(t, s.ordered, func(cfg *webhook.WorkerConfig) { cfg.Concurrency = 3 })
	eventually(t, "all are applied or superseded", func() bool {
		drained := drain(t, w)
		done += drained.Completed + drained.Superseded
		return done >= events
	})
	for n := range events {
		effects := s.effects(t, noon.Add(time.Duration(n)*time.Second).Format(time.TimeOnly))
		if effects > 1 || n == events-1 && effects != 1 {
			t.Errorf("%d effects of event %d of %d", effects, n+1, events)
		}
	}
}

func partOnce(t *testing.T, s suite) {
	w := s.worker(t, s.ordered)
	for _, step := range []struct {
		id   string
		c    change
		want int // effects of the entity, afterwards
	}{
		{"msg_1", change{Entity: "order/1", Part: "cost/1", State: "order/1"}, 1},
		{"msg_2", change{Entity: "order/1", Part: "cost/2", State: "order/1"}, 2},
		{"msg_3", change{Entity: "order/1", Part: "cost/1", State: "order/1"}, 2}, // told again by another event
		{"msg_1", change{Entity: "order/1", Part: "cost/1", State: "order/1"}, 2}, // delivered again
		{"msg_4", change{Entity: "order/2", Part: "cost/1", State: "order/2"}, 1},
	} {
		s.accept(t, step.c.entry(step.id))
		drain(t, w)
		if n := s.effects(t, step.c.Entity); n != step.want {
			t.Errorf("after %s: %d parts of %s, want %d", step.id, n, step.c.Entity, step.want)
		}
	}
}

func purged(t *testing.T, s suite) {
	purger, ok := s.inbox.(webhook.Purger)
	if !ok { // the store deletes by itself
		return
	}
	keep := map[string]bool{}
	put := func(id string, status claim.Status, expireAt time.Duration) {
		e := entry(id, `{}`)
		s.accept(t, e)
		row := s.get(t, e.ID)
		r := row.Record
		r.Status, r.Rev = status, r.Rev+1
		if expireAt != 0 {
			r.ExpireAt = row.Now.Add(expireAt)
		}
		if _, ok, err := s.inbox.Swap(t.Context(), e.ID, row.Version, r); err != nil || !ok {
			t.Fatal(ok, err)
		}
		keep[e.ID] = status != claim.StatusCompleted || expireAt > 0
	}
	put("expired", claim.StatusCompleted, -time.Hour)
	put("too", claim.StatusCompleted, -time.Second)
	put("kept", claim.StatusCompleted, time.Hour)
	put("waits", claim.StatusReleased, 0)
	put("dead", claim.StatusFailed, 0)
	put("released by hand", claim.StatusReleased, -time.Hour) // as the claim's own tools write it
	deleted, err := purger.Purge(t.Context())
	if err != nil || deleted != 2 {
		t.Errorf("%d deleted, want 2: %v", deleted, err)
	}
	for id, kept := range keep {
		if s.missing(t, id) == kept {
			t.Errorf("%s: missing %v, want kept %v", id, !kept, kept)
		}
	}
	if drained := drain(t, s.worker(t, nothing)); drained != (webhook.Drained{Taken: 2, Completed: 2}) {
		t.Errorf("%+v", drained)
	}
}
