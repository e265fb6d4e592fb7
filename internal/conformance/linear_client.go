package conformance

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// process is one process of a history: a claimer over a store that notes its calls.
type process struct {
	*run

	store   *recorder
	claimer *claim.Claimer
	crashed bool
}

func (h *run) process(client, life int) *process {
	faulty := NewFaulty(h.clients[client], h.lease/4, h.fault)
	store := newRecorder(faulty, &h.history, client+linearClients*life)
	faulty.resent = store.resent

	return &process{
		run: h, store: store,
		claimer: claim.New(store, claim.WithObserver(h), claim.WithLogger(slog.New(slog.DiscardHandler)),
			claim.WithStoreTimeout(30*time.Second)),
	}
}

// contend delivers the run until it is done. A process that dies is followed by another.
func (h *run) contend(ctx context.Context, client int) {
	life := 1
	p := h.process(client, life)

	for range maxDeliveries {
		if ctx.Err() != nil {
			return
		}

		switch p.deliver(ctx) {
		case claim.OutcomeDuplicate, claim.OutcomeExecuted, claim.OutcomeFailed:
			p.straggle(ctx)

			return
		}

		if rand.IntN(3) == 0 {
			p.straggle(ctx)
		}

		if p.crashed {
			life++
			p = h.process(client, life)
		}

		time.Sleep(time.Duration(rand.Int64N(int64(h.lease / 2))))
	}
}

// deliver delivers the run once. No outcome: the process has died.
func (p *process) deliver(ctx context.Context) (outcome claim.Outcome) {
	done := make(chan struct{})

	go func() {
		defer close(done)

		proposal := claim.Proposal{ID: p.id, Run: p.id, Lease: p.lease, Retention: time.Hour, Renew: rand.IntN(2) == 0}
		outcome = p.claimer.Do(ctx, proposal, p.work).Outcome
	}()
	<-done

	return outcome
}

// crash delivers to a process that dies when it has claimed.
func (p *process) crash(ctx context.Context) {
	done := make(chan struct{})

	go func() {
		defer close(done)

		p.claimer.Do(ctx, claim.Proposal{ID: p.id, Run: p.id, Lease: p.lease, Retention: time.Hour}, p.die)
	}()
	<-done
}

func (p *process) die(context.Context) error {
	p.store.kill()

	p.crashed = true

	p.mu.Lock()
	p.tally.Crashes++
	p.mu.Unlock()

	return nil
}

// work is what works do: succeed, fail, take too long, heed their end, die.
func (p *process) work(ctx context.Context) error {
	time.Sleep(time.Duration(rand.Int64N(int64(p.lease / 2))))

	switch n := rand.IntN(20); {
	case n < 5:
		return errWork
	case n < 6:
		return claim.Permanent(errWork)
	case n < 9: // heeds nothing
		time.Sleep(p.lease + time.Duration(rand.Int64N(int64(p.lease))))

		return nil
	case n < 11: // heeds its end
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(3 * p.lease):
			return nil
		}
	case n < 14:
		return p.die(ctx)
	default:
		return nil
	}
}

// straggle sends a write of this process once more on a version that it knew: a renewal, an end, a release that the network held
// back, or code that does not know that its attempt has ended. A store must refuse all that come too late.
func (p *process) straggle(ctx context.Context) {
	if p.crashed {
		return
	}

	old, ok := p.store.claimed()
	if !ok {
		return
	}

	statuses := []claim.Status{claim.StatusInProgress, claim.StatusCompleted, claim.StatusReleased}
	late := next(old.Record, statuses[rand.IntN(len(statuses))])
	late.Rev = old.Rev + 1 + 100*int64(1+rand.IntN(1000)) // told apart from the write that was made

	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()

	_, _, _ = p.store.Swap(ctx, p.id, old.Version, late) //nolint:dogsled // whatever it answers, the client is dead
}
