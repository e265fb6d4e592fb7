package received_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/webhooktest"
)

const (
	sentEvents   = 120
	sentEntities = 10
	senders      = 8
	kills        = 6
)

func TestAReceiverThatIsKilledDoesEachEventOnce(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(*testing.T) place{
		"sqlite": sqlitePlace, "postgres": postgresPlace, "firestore": firestorePlace, "spanner": spannerPlace,
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			at := open(t)
			program := build(t, generator.Spec{Name: "billing", Kind: "webhook", Store: store}, "webhook-"+store)
			receiver := newService(t, program, append(at.env, "IDEMPOTENT_STORE="+at.store, "WEBHOOK_SECRET="+webhooktest.Secret)...)
			receiver.start()

			sent := make(chan struct{})
			go func() { defer close(sent); send(t, receiver.url) }()
			for range kills {
				// At a random moment of a process's life: at once, between two events, in the middle of one.
				time.Sleep(time.Duration(50+rand.N(700)) * time.Millisecond)
				receiver.kill()
				receiver.start()
			}
			<-sent
			at.wait(t)
			receiver.stop()
			at.judge(t)
		})
	}
}

// event is one event: the n-th of its sender's, which tells the whole state of an entity.
func event(n int) (id, payload string) {
	at := time.Date(2026, 1, 1, 3, 0, n, 0, time.UTC)
	return fmt.Sprintf("msg_%d", n), fmt.Sprintf(`{"type": "state", "timestamp": %q, "data": {"entity": "e%d"}}`, at.Format(time.RFC3339), n%sentEntities)
}

// send delivers every event, in no order, from several hands, each until it is answered 2xx by an answer that is not lost, and some once
// more after that.
func send(t *testing.T, url string) {
	queue := make(chan int)
	var hands sync.WaitGroup
	for range senders {
		hands.Go(func() {
			for n := range queue {
				id, payload := event(n)
				for !delivered(t, url, id, payload) || rand.N(5) == 0 {
					time.Sleep(time.Duration(rand.N(60)) * time.Millisecond)
				}
			}
		})
	}
	for _, n := range rand.Perm(sentEvents) {
		queue <- n
		time.Sleep(time.Duration(rand.N(40)) * time.Millisecond)
	}
	close(queue)
	hands.Wait()
}

// delivered delivers an event once. It says whether the sender got to know of a 2xx: every third answer is lost.
func delivered(t *testing.T, url, id, payload string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/", strings.NewReader(payload))
	if err != nil {
		t.Error(err)
		return true
	}
	if r.Header, err = webhooktest.Sign(webhooktest.Secret, id, time.Now(), []byte(payload)); err != nil {
		t.Error(err)
		return true
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return false // no process is there, or it died
	}
	_ = reply.Body.Close()
	if reply.StatusCode/100 == 4 {
		t.Errorf("event %s was answered %s", id, reply.Status)
	}
	return reply.StatusCode/100 == 2 && rand.N(3) > 0
}

// wait returns when nothing in the inbox is left to be done.
func (p place) wait(t *testing.T) {
	t.Helper()
	open := claim.Filter{Statuses: []claim.Status{claim.StatusReleased, claim.StatusInProgress}}
	for until := time.Now().Add(3 * time.Minute); ; { // Firestore keeps the locks of a process that was killed for one
		left := 0
		for _, err := range p.inbox.List(t.Context(), open) {
			if err != nil {
				t.Fatal(err)
			}
			left++
		}
		if left == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d events are still to be done", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (p place) judge(t *testing.T) {
	t.Helper()
	effects := map[string]int{}
	for _, row := range p.rows(t, "effects", "event", "event") {
		effects[row[0]]++
	}
	for n := range sentEvents {
		if id, _ := event(n); effects[id] != 1 {
			t.Errorf("event %s has %d effects", id, effects[id])
		}
	}
	if len(effects) != sentEvents {
		t.Errorf("%d events have effects, %d were sent: %v", len(effects), sentEvents, slices.Sorted(maps.Keys(effects)))
	}
	states := p.rows(t, "states", "entity", "event")
	for _, state := range states {
		for n := sentEvents - sentEntities; n < sentEvents; n++ { // the latest event of each entity
			if id, payload := event(n); strings.Contains(payload, `"`+state[0]+`"`) && state[1] != id {
				t.Errorf("entity %s is as of %s, not of %s", state[0], state[1], id)
			}
		}
	}
	if len(states) != sentEntities {
		t.Errorf("%d entities have a state, want %d", len(states), sentEntities)
	}
	for dead, err := range webhook.Dead(t.Context(), p.inbox) {
		t.Errorf("event %s is dead: %s (%v)", dead.WebhookID, dead.LastError, err)
	}
}
