package process_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// onEachStore runs a test over each store that processes can share.
func onEachStore(t *testing.T, test func(*testing.T, *process.Subject)) {
	t.Helper()
	for name, start := range process.Subjects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// within bounds a test that waits for something.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// delivery is one of a run of the past with that lease, which is all the time that an attempt has.
func delivery(lease time.Duration, task process.Task) process.Delivery {
	return process.Delivery{
		Time:   time.Now().Add(-time.Hour).Truncate(time.Second),
		Policy: run.Policy{Deadline: time.Minute, Lease: lease, Retention: time.Hour},
		Task:   task,
	}
}

type reply struct {
	process.Answer

	err error
}

// send delivers without waiting for the answer.
func send(ctx context.Context, p *process.Process, d process.Delivery) <-chan reply {
	answered := make(chan reply, 1)
	go func() {
		answer, err := p.Deliver(ctx, http.DefaultClient, d)
		answered <- reply{answer, err}
	}()
	return answered
}

func await(ctx context.Context, t *testing.T, p *process.Process, kind process.EventKind) process.Event {
	t.Helper()
	e, err := p.Await(ctx, kind)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// deliverUntilDone delivers again and again until the run is executed or was. Every answer before that must be in_progress.
func deliverUntilDone(ctx context.Context, t *testing.T, p *process.Process, d process.Delivery) process.Answer {
	t.Helper()
	for {
		answer, err := p.Deliver(ctx, http.DefaultClient, d)
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, p.Log())
		case answer.Code == http.StatusOK:
			return answer
		case answer.Outcome != claim.OutcomeInProgress:
			t.Fatalf("got %d %s: %s", answer.Code, answer.Outcome, answer.Body)
		}
		pause(ctx, 20*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// record reads the record of the run.
func record(ctx context.Context, t *testing.T, s *process.Subject, name string) claim.Snapshot {
	t.Helper()
	found, err := s.Store.Get(ctx, run.ID(name))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantEffects(ctx context.Context, t *testing.T, s *process.Subject, name string, want int) {
	t.Helper()
	counts, err := s.Counts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if counts[name] != want {
		t.Errorf("%d effects of the run, want %d", counts[name], want)
	}
}
