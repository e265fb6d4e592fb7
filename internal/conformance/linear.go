package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

const (
	// linearClients is how many processes contend in a history.
	linearClients = 8
	// checkTimeout is how long the checker may take over one history; it takes milliseconds.
	checkTimeout = 30 * time.Second
	// maxFaults is how many writes of a history go wrong: the checker tries each unknown outcome both ways.
	maxFaults = 12
	// maxDeliveries ends a client that never sees the run done.
	maxDeliveries = 200
)

// ErrNotLinearizable: a history that no store that keeps its word can have.
var ErrNotLinearizable = errors.New("history is not linearizable")

// Tally counts what happened in histories.
type Tally struct {
	Histories, Operations, Unknown                                  int
	Claims, Takeovers, Renewals, Completions, Releases, Fails, Loss int
	Crashes                                                         int
}

func (t Tally) String() string {
	return fmt.Sprintf("%d histories, %d operations, %d unknown outcomes: %d claims, %d takeovers, %d renewals, %d completions, "+
		"%d releases, %d fails, %d lost, %d crashes", t.Histories, t.Operations, t.Unknown, t.Claims, t.Takeovers, t.Renewals,
		t.Completions, t.Releases, t.Fails, t.Loss, t.Crashes)
}

func (t *Tally) add(o Tally) {
	t.Histories += o.Histories
	t.Operations += o.Operations
	t.Unknown += o.Unknown
	t.Claims += o.Claims
	t.Takeovers += o.Takeovers
	t.Renewals += o.Renewals
	t.Completions += o.Completions
	t.Releases += o.Releases
	t.Fails += o.Fails
	t.Loss += o.Loss
	t.Crashes += o.Crashes
}

// Observe implements claim.Observer.
func (h *run) Observe(_ context.Context, e claim.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()

	switch e.Kind { // the others are not counted
	case claim.EventClaimed:
		h.tally.Claims++
	case claim.EventTakeover:
		h.tally.Takeovers++
	case claim.EventRenewed:
		h.tally.Renewals++
	case claim.EventExecuted:
		h.tally.Completions++
	case claim.EventReleased:
		h.tally.Releases++
	case claim.EventFailed:
		h.tally.Fails++
	case claim.EventLost:
		h.tally.Loss++
	}
}

// Linearizable makes n histories of eight clients that claim, renew, complete, release, fail, take over and crash under faults, and
// checks each. Each holds a takeover and an unknown outcome at least. As many histories are made side by side as there are lanes; each
// lane has clients of its own, so that no two processes share one. Leases last longer on a machine that is slower than they allow.
func Linearizable(t *testing.T, lanes []Open, n int, lease time.Duration) {
	t.Helper()

	clients := make([][]claim.Store, len(lanes))
	for i, open := range lanes {
		for range linearClients {
			clients[i] = append(clients[i], open(t))
		}
	}

	lease, err := bearable(t.Context(), clients, lease)
	if err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	tally, err := CheckHistories(t.Context(), clients, n, lease)
	t.Logf("%s: %d lanes, leases of %v, %v: %s", clients[0][0].Caps().Store, len(lanes), lease, time.Since(began).Round(time.Second), tally)

	if err != nil {
		t.Fatal(err)
	}
}

// bearable is the lease, or a longer one where a call takes so long that work would seldom end within it: all clients call at once,
// as they will.
func bearable(ctx context.Context, lanes [][]claim.Store, lease time.Duration) (time.Duration, error) {
	const (
		rounds = 3
		calls  = 5 // that fit into a lease
		most   = 500 * time.Millisecond
	)

	var (
		mu      sync.Mutex
		slowest time.Duration
		failed  error
		wg      sync.WaitGroup
	)

	for _, clients := range lanes {
		for _, client := range clients {
			wg.Go(func() {
				var took time.Duration

				for range rounds { // the first opens connections
					began := time.Now()
					_, err := client.Get(ctx, "none")
					took = time.Since(began)

					if err != nil && !errors.Is(err, claim.ErrNotFound) {
						mu.Lock()
						failed = errors.Join(failed, err)
						mu.Unlock()

						return
					}
				}

				mu.Lock()
				slowest = max(slowest, took)
				mu.Unlock()
			})
		}
	}

	wg.Wait()

	return max(lease, min(calls*slowest, most).Round(time.Millisecond)), failed
}

// CheckHistories makes and checks histories until n are made or one is wrong, and counts what was in them. Each element of lanes is
// the clients of one history at a time.
func CheckHistories(ctx context.Context, lanes [][]claim.Store, n int, lease time.Duration) (Tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var (
		mu    sync.Mutex
		sum   Tally
		first error
		wg    sync.WaitGroup
		next  = make(chan struct{})
	)

	for _, clients := range lanes {
		wg.Go(func() {
			for range next {
				h := &run{clients: clients, lease: lease, id: newID(), history: history{begin: time.Now()}}
				err := h.make(ctx)

				mu.Lock()
				sum.add(h.tally)

				if err != nil && first == nil {
					first = err

					cancel()
				}
				mu.Unlock()
			}
		})
	}

	for range n {
		select {
		case next <- struct{}{}:
			continue
		case <-ctx.Done():
		}

		break
	}

	close(next)
	wg.Wait()

	return sum, first
}

// run is one run on its way to being done, by clients that fail and die.
type run struct {
	clients []claim.Store
	lease   time.Duration
	id      string
	history history

	mu     sync.Mutex
	tally  Tally
	writes int
	faults int
}

// make makes the history and checks it.
func (h *run) make(ctx context.Context) error {
	// One claims and dies, so that there is a takeover; the others contend for what it leaves.
	// On a busy machine the lease may be over before the work begins: then again.
	for p := h.process(0, 0); !p.crashed && ctx.Err() == nil; {
		p.crash(ctx)
	}

	var wg sync.WaitGroup
	for client := range h.clients {
		wg.Go(func() { h.contend(ctx, client) })
	}

	wg.Wait()

	if ctx.Err() != nil { // another history was wrong, or the test is over: this one is cut short
		return nil //nolint:nilerr // nothing is wrong with this one
	}

	h.tally.Histories, h.tally.Operations, h.tally.Unknown = 1, len(h.history.operations), h.history.unknown

	switch porcupine.CheckOperationsTimeout(linearModel, h.history.operations, checkTimeout) {
	case porcupine.Ok:
	case porcupine.Unknown:
		return fmt.Errorf("the checker did not end within %v over %d operations", checkTimeout, len(h.history.operations))
	default:
		return fmt.Errorf("%w: %s", ErrNotLinearizable, h.describe())
	}

	if h.tally.Takeovers == 0 || h.history.unknown == 0 {
		return fmt.Errorf("a history without takeover (%d) or unknown outcome (%d) proves too little", h.tally.Takeovers, h.history.unknown)
	}

	return nil
}

func (h *run) describe() string {
	var text strings.Builder
	for _, op := range h.history.operations {
		returned := "never"
		if op.Return != math.MaxInt64 {
			returned = time.Duration(op.Return).String()
		}

		fmt.Fprintf(&text, "\nprocess %d, %v to %s: %v: %v", op.ClientId, time.Duration(op.Call), returned, op.Input, op.Output)
	}

	return text.String()
}

// fault chooses what goes wrong: something with the second write for certain, so that each history has an unknown outcome.
func (h *run) fault(c Call) Fault {
	if c.Verb == "get" {
		return None
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	h.writes++

	switch { // an insert that loses tells little, and there are many
	case h.writes == 1, h.faults == maxFaults,
		h.writes > 2 && c.Verb == "insert" && rand.IntN(40) > 0,
		h.writes > 2 && c.Verb == "swap" && rand.IntN(6) > 0:
		return None
	}

	faults := []Fault{RequestLost, ReplyLost, Late, Reset, Storm, Slow, Resent}
	if h.writes == 2 {
		faults = faults[:4]
	}

	h.faults++

	return faults[rand.IntN(len(faults))]
}
