package inbox_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// cloudSubjects are the inboxes in Google's databases.
func cloudSubjects() map[string]func(*testing.T) subject {
	return map[string]func(*testing.T) subject{"firestore": firestoreSubject, "spanner": spannerSubject}
}

// onEach runs a case over each of them, with an inbox of its own.
func onEach(t *testing.T, test func(*testing.T, suite)) {
	t.Helper()

	for store, start := range cloudSubjects() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()

			s := start(t)
			test(t, suite{subject: s, inbox: s.open(t)})
		})
	}
}

// The claim's writes replace the record and nothing beside it.
func TestAnEventIsTheSameBeforeAndAfterItsWork(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s suite) {
		e := webhook.NewEntry("acme", "msg_1", "text/plain", []byte("as it came"))
		s.accept(t, e)
		before := s.load(t, e.ID)
		attempts := 0

		w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
			if attempts++; attempts == 1 {
				return errNotNow
			}

			return s.apply(ctx, e.WebhookID, guard{})
		})
		drainUntil(t, w, "it is completed", func() bool { return s.get(t, e.ID).Status == claim.StatusCompleted })

		if after := s.load(t, e.ID); !equal(before, after) {
			t.Errorf("before %+v\nafter %+v", before, after)
		}
	})
}

// Both stores keep the times that order states to the nanosecond, though Firestore's own times have microseconds.
func TestStatesAreOrderedToTheNanosecond(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s suite) {
		noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		w := s.worker(t, s.ordered)

		for _, step := range []struct {
			id      string
			at      time.Duration
			applied bool
		}{{"a", 2, true}, {"b", 1, false}, {"c", 3, true}, {"d", 100, true}, {"e", 20, false}} {
			s.accept(t, change{Entity: "contact/1", Timestamp: noon.Add(step.at), State: step.id}.entry(step.id))
			drain(t, w)

			if got := s.effects(t, step.id) == 1; got != step.applied {
				t.Errorf("the state at %d ns: applied %v, want %v", step.at, got, step.applied)
			}
		}
	})
}

// What a guard says is undone with the effect: a state whose transaction failed was not applied.
func TestAGuardIsRolledBackWithItsEffect(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s suite) {
		c := change{Entity: "contact/1", Timestamp: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), State: "it"}
		e := c.entry("msg_1")
		s.accept(t, e)
		refused := 0

		w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
			if refused == 0 {
				refused++

				return s.failing(ctx, c)
			}

			return s.ordered(ctx, e)
		})
		drainUntil(t, w, "it is completed", func() bool { return s.get(t, e.ID).Status == claim.StatusCompleted })

		if row := s.get(t, e.ID); refused != 1 || s.effects(t, "it") != 1 || len(row.Result) != 0 {
			t.Errorf("refused %d times, %d effects, result %q", refused, s.effects(t, "it"), row.Result)
		}
	})
}

// failing applies a change in a transaction that fails at its end.
func (s suite) failing(ctx context.Context, c change) error {
	return s.apply(ctx, unwritable, guard{entity: c.Entity, at: c.Timestamp, id: c.State})
}

// unwritable is a name that apply fails to write once the guard has let it.
const unwritable = "unwritable"

// partPurger is what both inboxes have for the parts that no TTL policy can delete with their event.
type partPurger interface {
	PurgeParts(ctx context.Context, age time.Duration) (int64, error)
}

// partsGo adds two parts, lets one of their events be gone, and looks what is purged.
func partsGo(t *testing.T, s suite, purger partPurger, remove func(id string)) {
	t.Helper()

	w := s.worker(t, s.ordered)
	parts := map[string]string{"cost/1": "", "cost/2": ""}

	add := func(part, id string) {
		e := change{Entity: "order/1", Part: part, State: part}.entry(id)
		parts[part] = e.ID
		s.accept(t, e)
		drain(t, w)
	}
	purge := func(age time.Duration, want int64) {
		t.Helper()

		if n, err := purger.PurgeParts(t.Context(), age); err != nil || n != want {
			t.Errorf("%d parts purged, want %d: %v", n, want, err)
		}
	}

	add("cost/1", "msg_1")
	add("cost/2", "msg_2")
	purge(0, 0) // both events are there
	remove(parts["cost/1"])
	purge(time.Hour, 0) // too young
	eventually(t, "the store's clock has gone on", func() bool {
		n, err := purger.PurgeParts(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}

		return n == 1
	})
	purge(0, 0)

	add("cost/1", "msg_3") // forgotten, and added again
	add("cost/2", "msg_4") // still known

	if one, two := s.effects(t, "cost/1"), s.effects(t, "cost/2"); one != 2 || two != 1 {
		t.Errorf("%d and %d effects, want 2 and 1", one, two)
	}
}

func TestTheGuardsRefuseWhatNamesNothing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s suite) {
		noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

		var errs []error

		w := s.worker(t, func(ctx context.Context, e webhook.Event) error {
			var g struct {
				Entity, ID string
				At         time.Time
			}
			if err := json.Unmarshal(e.Payload, &g); err != nil {
				return err
			}

			err := s.apply(ctx, e.WebhookID, guard{entity: g.Entity, id: g.ID, at: g.At})
			errs = append(errs, err)

			return claim.Permanent(err)
		})

		for id, g := range map[string]map[string]any{
			"no entity": {"ID": "1", "At": noon}, "no id": {"Entity": "contact/1", "At": noon}, "a part of nothing": {"ID": "1"}, "no part": {"Entity": "order/1"},
		} {
			text, err := json.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}

			s.accept(t, entry(id, string(text)))
			drain(t, w)

			if s.effects(t, id) != 0 {
				t.Errorf("%s: it has an effect", id)
			}
		}

		for _, err := range errs {
			if err == nil {
				t.Error("a guard that names nothing was asked")
			}
		}

		if len(errs) != 4 {
			t.Errorf("%d works, want 4", len(errs))
		}
	})
}
