package webhooktest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// Deliveries sends events to a receiver and has its worker do them. Make one with [New].
type Deliveries struct {
	t     claimtest.T
	inbox *inbox
	build func(webhook.Inbox) (http.Handler, *webhook.Worker)

	receiver http.Handler // of the process that lives
	worker   *webhook.Worker
}

// New returns deliveries to what build makes: receiver and worker of one process, over its inbox.
func New(t claimtest.T, build func(webhook.Inbox) (http.Handler, *webhook.Worker)) *Deliveries {
	t.Helper()
	d := &Deliveries{t: t, inbox: newInbox(), build: build}
	d.receiver, d.worker = build(&process{inbox: d.inbox})
	return d
}

// Inbox is where the events are.
func (d *Deliveries) Inbox() webhook.Inbox { return d.inbox }

// Send delivers an event once and returns what it was answered: accepted or duplicate. Another answer than 200 fails the test.
func (d *Deliveries) Send(id, payload string) string {
	d.t.Helper()
	reply := httptest.NewRecorder()
	d.receiver.ServeHTTP(reply, Request(id, payload))
	if reply.Code != http.StatusOK {
		d.t.Errorf("event %s was answered %d %s", id, reply.Code, reply.Body)
	}
	return reply.Header().Get(run.HeaderOutcome)
}

// SendAtOnce delivers an event n times at once. Other answers than one accepted and duplicates fail the test.
func (d *Deliveries) SendAtOnce(n int, id, payload string) {
	d.t.Helper()
	outcomes := make([]string, n)
	var senders sync.WaitGroup
	for i := range n {
		senders.Go(func() { outcomes[i] = d.Send(id, payload) })
	}
	senders.Wait()
	accepted := 0
	for _, outcome := range outcomes {
		if outcome == webhook.OutcomeAccepted {
			accepted++
		}
	}
	if accepted != 1 {
		d.t.Errorf("event %s was accepted %d times: %v", id, accepted, outcomes)
	}
}

// Work has the worker do what is due, and returns what became of it.
func (d *Deliveries) Work() webhook.Drained {
	d.t.Helper()
	drained, err := d.worker.Drain(context.Background())
	if err != nil {
		d.t.Errorf("work: %v", err)
	}
	return drained
}

// Crash has the worker of another process begin what is due. It dies when the first work has returned, before its end is recorded. The
// event stays its own until [Deliveries.MakeDue].
func (d *Deliveries) Crash() {
	_, worker := d.build(&process{inbox: d.inbox, armed: true})
	died := make(chan struct{})
	go func() {
		defer close(died)
		_, _ = worker.Drain(context.Background()) // never returns where anything was due
	}()
	<-died
}

// MakeDue moves the inbox's clock to the end of the leases of dead attempts and of the waits after failed ones.
func (d *Deliveries) MakeDue() { d.inbox.makeDue() }
