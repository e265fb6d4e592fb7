package process_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// leaseToOutlive is what the tests wait for that wait for the end of a lease: short, and long enough for a busy machine.
const leaseToOutlive = 4 * time.Second

// TestWorkThatHeedsItsContextIsReleasedOnSIGTERM gives a lease of a minute: only a release lets the next delivery run.
func TestWorkThatHeedsItsContextIsReleasedOnSIGTERM(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *process.Subject) {
		ctx := within(t)
		ending, other := process.Start(t, s, process.Config{Grace: 20 * time.Second}), process.Start(t, s, process.Config{})
		d := delivery(time.Minute, process.Task{For: time.Minute})
		d.Policy.MaxAttempts = 1 // an attempt that a shutdown ended does not count
		first := send(ctx, ending, d)
		await(ctx, t, ending, process.EventBegan)
		if err := ending.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got := <-first; got.err != nil || got.Outcome != claim.OutcomeReleased || got.Code != 500 {
			t.Fatalf("the delivery got %d %s, %v; want 500 released", got.Code, got.Outcome, got.err)
		}
		if e := await(ctx, t, ending, process.EventEnded); e.Text != claim.ErrShutdown.Error() {
			t.Errorf("the work's context ended by %q, want %q", e.Text, claim.ErrShutdown)
		}
		if e := await(ctx, t, ending, process.EventStopped); e.Text != "" {
			t.Errorf("the server ended with %q", e.Text)
		}

		d.Task = process.Task{}
		retry := <-send(ctx, other, d)
		if retry.err != nil || retry.Outcome != claim.OutcomeExecuted {
			t.Fatalf("the retry got %d %s (%s), %v; want executed at once", retry.Code, retry.Outcome, retry.Body, retry.err)
		}
		if got := record(ctx, t, s, process.Name(d.Time, false)); got.Attempt != 2 || got.Counted != 1 {
			t.Errorf("record of attempt %d with %d counted, want 2 with 1", got.Attempt, got.Counted)
		}
	})
}

func TestWorkThatIgnoresSIGTERMIsNotOvertakenBeforeItsLeaseEnds(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *process.Subject) {
		ctx := within(t)
		ending, other := process.Start(t, s, process.Config{Grace: 50 * time.Millisecond}), process.Start(t, s, process.Config{})
		d := delivery(leaseToOutlive, process.Task{For: time.Minute, Heedless: true})
		sent := time.Now()
		first := send(ctx, ending, d)
		await(ctx, t, ending, process.EventBegan)
		if err := ending.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if e := await(ctx, t, ending, process.EventStopped); !strings.Contains(e.Text, "leases will lapse") {
			t.Errorf("the server ended with %q, want word of the lease that will lapse", e.Text)
		}
		if got := <-first; got.err == nil {
			t.Errorf("the delivery got %d %s from a process that ended under it", got.Code, got.Outcome)
		}

		d.Task = process.Task{}
		if got := deliverUntilDone(ctx, t, other, d); got.Outcome != claim.OutcomeExecuted {
			t.Errorf("got %s, want executed", got.Outcome)
		}
		if after := time.Since(sent); after < leaseToOutlive {
			t.Errorf("overtaken %v after it was delivered, the lease is %v", after, leaseToOutlive)
		}
		await(ctx, t, other, process.EventKind(claim.EventTakeover))
	})
}

// TestAHolderFrozenPastItsLeaseDoesNotComplete stops the process while the work runs. By the time it wakes another has done the work.
func TestAHolderFrozenPastItsLeaseDoesNotComplete(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]process.Task{
		"heeds its context":   {For: 3 * time.Second},
		"ignores its context": {For: 3 * time.Second, Heedless: true},
		"completes in a transaction, whatever its context says": {For: 3 * time.Second, Heedless: true, Tx: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachStore(t, func(t *testing.T, s *process.Subject) {
				if task.Tx && !s.Store.Caps().Transactions {
					testRefusedTransaction(t, s)
					return
				}
				testFrozen(t, s, task)
			})
		})
	}
}

func testFrozen(t *testing.T, s *process.Subject, task process.Task) {
	t.Helper()
	ctx := within(t)
	frozen, other := process.Start(t, s, process.Config{}), process.Start(t, s, process.Config{})
	d := delivery(leaseToOutlive, task)
	first := send(ctx, frozen, d)
	began := await(ctx, t, frozen, process.EventBegan)
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := d
	second.Task = process.Task{Tx: task.Tx}
	if got := deliverUntilDone(ctx, t, other, second); got.Outcome != claim.OutcomeExecuted {
		t.Fatalf("the other process got %s, want executed", got.Outcome)
	}
	done := record(ctx, t, s, process.Name(d.Time, false))

	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := <-first; got.err != nil || got.Outcome != claim.OutcomeDuplicate {
		t.Errorf("the frozen one got %d %s, %v; want duplicate: the run was completed by another", got.Code, got.Outcome, got.err)
	}
	if e := await(ctx, t, frozen, process.EventEnded); e.Text != claim.ErrLeaseEnded.Error() || e.AttemptID != began.AttemptID {
		t.Errorf("the context of the frozen work ended by %q, want %q", e.Text, claim.ErrLeaseEnded)
	}
	if frozen.Saw(process.EventKind(claim.EventExecuted)) {
		t.Error("the frozen one says that it has executed the run")
	}
	if now := record(ctx, t, s, process.Name(d.Time, false)); now.Version != done.Version || now.AttemptID == began.AttemptID {
		t.Errorf("the record changed from %+v to %+v", done, now)
	}
	if task.Tx {
		wantEffects(ctx, t, s, process.Name(d.Time, false), 1)
	}
}

// testRefusedTransaction: where the store declares none, a work that asks for one has done nothing.
func testRefusedTransaction(t *testing.T, s *process.Subject) {
	t.Helper()
	got := <-send(within(t), process.Start(t, s, process.Config{}), delivery(time.Minute, process.Task{Tx: true}))
	if got.err != nil || got.Outcome != claim.OutcomeFailed {
		t.Errorf("got %d %s, %v; want failed", got.Code, got.Outcome, got.err)
	}
}

func TestAKilledHolderIsReplacedWhenItsLeaseIsOver(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *process.Subject) {
		ctx := within(t)
		dying, other := process.Start(t, s, process.Config{}), process.Start(t, s, process.Config{})
		tx := s.Store.Caps().Transactions
		d := delivery(leaseToOutlive, process.Task{For: time.Minute, Tx: tx})
		sent := time.Now()
		first := send(ctx, dying, d)
		await(ctx, t, dying, process.EventBegan)
		dying.Kill()
		if got := <-first; got.err == nil {
			t.Errorf("a dead process answered %d %s", got.Code, got.Outcome)
		}
		d.Task = process.Task{Tx: tx}
		if got := deliverUntilDone(ctx, t, other, d); got.Outcome != claim.OutcomeExecuted {
			t.Errorf("got %s, want executed", got.Outcome)
		}
		if after := time.Since(sent); after < leaseToOutlive {
			t.Errorf("replaced %v after it was delivered, the lease is %v", after, leaseToOutlive)
		}
		if tx {
			wantEffects(ctx, t, s, process.Name(d.Time, false), 1)
		}
		if got := record(ctx, t, s, process.Name(d.Time, false)); got.Attempt != 2 || got.Status != claim.StatusCompleted {
			t.Errorf("record %s of attempt %d, want completed by the second", got.Status, got.Attempt)
		}
	})
}

// TestAKilledHolderUnderAtMostOnceIsNotReplaced: nobody knows how far the dead one came.
func TestAKilledHolderUnderAtMostOnceIsNotReplaced(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *process.Subject) {
		ctx := within(t)
		dying, other := process.Start(t, s, process.Config{}), process.Start(t, s, process.Config{})
		d := delivery(leaseToOutlive, process.Task{For: time.Minute})
		d.Policy.AtMostOnce = true
		first := send(ctx, dying, d)
		if !s.Store.Caps().SurvivesFailover { // it cannot promise that, and says so
			if got := <-first; got.err != nil || got.Code != 500 || dying.Saw(process.EventBegan) {
				t.Errorf("got %d %s, %v; want 500 and nothing run", got.Code, got.Outcome, got.err)
			}
			return
		}
		await(ctx, t, dying, process.EventBegan)
		dying.Kill()
		<-first
		for {
			got := <-send(ctx, other, d)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if got.Outcome == claim.OutcomeUnknown && got.Code == 422 {
				break
			}
			if got.Outcome != claim.OutcomeInProgress {
				t.Fatalf("got %d %s, want unknown", got.Code, got.Outcome)
			}
			pause(ctx, 20*time.Millisecond)
		}
		if other.Saw(process.EventBegan) {
			t.Error("the work was begun again")
		}
	})
}

// TestARenewedLeaseOutlivesItself: work that takes several leases keeps its claim while its process lives.
func TestARenewedLeaseOutlivesItself(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *process.Subject) {
		ctx := within(t)
		holder, other := process.Start(t, s, process.Config{}), process.Start(t, s, process.Config{})
		d := delivery(leaseToOutlive, process.Task{For: 2 * leaseToOutlive})
		d.Policy.Renew = true
		first := send(ctx, holder, d)
		await(ctx, t, holder, process.EventBegan)
		if got := deliverUntilDone(ctx, t, other, d); got.Outcome != claim.OutcomeDuplicate {
			t.Errorf("the other process got %s, want duplicate when the first is done", got.Outcome)
		}
		if got := <-first; got.err != nil || got.Outcome != claim.OutcomeExecuted {
			t.Errorf("the holder got %d %s (%s), %v; want executed", got.Code, got.Outcome, got.Body, got.err)
		}
	})
}
