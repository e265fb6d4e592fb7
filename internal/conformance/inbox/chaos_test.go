package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// mortal is the inbox of one process: once that is killed, nothing reaches the store any more, and until then replies get lost.
type mortal struct {
	webhook.Inbox

	killed atomic.Bool
	calls  atomic.Int64
}

var (
	errKilled = errors.New("killed")
	errReply  = errors.New("reply lost")
)

func (m *mortal) Unwrap() claim.Store { return m.Inbox }

// reached makes a call that may be the process's last one.
func reached[T any](m *mortal, call func() (T, error)) (got T, err error) {
	if m.killed.Load() {
		return got, errKilled
	}
	if got, err = call(); err != nil {
		return got, err
	}
	if m.killed.Load() {
		return got, errKilled
	}
	if m.calls.Add(1)%11 == 0 {
		return got, errReply
	}
	return got, nil
}

func (m *mortal) Accept(ctx context.Context, e webhook.Entry) (webhook.Receipt, error) {
	return reached(m, func() (webhook.Receipt, error) { return m.Inbox.Accept(ctx, e) })
}

func (m *mortal) Due(ctx context.Context, limit int, hold time.Duration) ([]webhook.Event, error) {
	return reached(m, func() ([]webhook.Event, error) { return m.Inbox.Due(ctx, limit, hold) })
}

func (m *mortal) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	if m.killed.Load() {
		return claim.Snapshot{}, errKilled
	}
	return m.Inbox.Get(ctx, id)
}

func (m *mortal) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	type swapped struct {
		claim.Snapshot

		ok bool
	}
	got, err := reached(m, func() (swapped, error) {
		found, ok, err := m.Inbox.Swap(ctx, id, old, r)
		return swapped{found, ok}, err
	})
	return got.Snapshot, got.ok, err
}

// process is a receiver and a worker over one inbox.
type process struct {
	inbox    *mortal
	receiver *webhook.Receiver
	stop     context.CancelFunc
	ended    chan struct{}
}

// chaosLease is long enough for slow machines and short enough to wait for some of them.
const chaosLease = 2 * time.Second

func (s suite) process(t *testing.T, work webhook.Work) *process {
	t.Helper()
	p := &process{inbox: &mortal{Inbox: s.open(t)}, ended: make(chan struct{})}
	s.open = func(*testing.T) webhook.Inbox { return p.inbox }
	w := s.worker(t, work, func(cfg *webhook.WorkerConfig) {
		cfg.Lease, cfg.Renew, cfg.MaxAttempts, cfg.Concurrency, cfg.Grace = chaosLease, true, -1, 3, 100*time.Millisecond
		cfg.ClaimOptions = []claim.Option{claim.WithLogger(slog.New(slog.DiscardHandler))}
	})
	s.inbox = p.inbox
	p.receiver = s.receiver(t, "acme", func(cfg *webhook.ReceiverConfig) { cfg.Notify = w.Wake })
	var ctx context.Context
	ctx, p.stop = context.WithCancel(t.Context())
	go func() {
		defer close(p.ended)
		_ = w.Run(ctx) // a killed process has nobody to tell
	}()
	return p
}

// kill ends the process without a word: what it holds lapses.
func (p *process) kill() {
	p.inbox.killed.Store(true)
	p.stop()
}

// fleet is the processes that live.
type fleet struct {
	mu    sync.Mutex
	alive []*process
	all   []*process
}

func (f *fleet) pick(r *rand.Rand) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[r.IntN(len(f.alive))]
}

func (f *fleet) replace(r *rand.Rand, next *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := r.IntN(len(f.alive))
	f.alive[n].kill()
	f.alive[n] = next
	f.all = append(f.all, next)
}

// TestEveryEventHasItsEffectOnce: senders repeat events, out of order, until they see a 2xx, while replies get lost and processes are
// killed at any moment. In the end each part was added once, and each entity has its latest state, applied once.
func TestEveryEventHasItsEffectOnce(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"sqlite", "postgres", "firestore"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			start, ok := subjects()[store]
			if !ok {
				t.Fatal("there is no such subject")
			}
			s := start(t)
			chaos(t, suite{subject: s, inbox: s.open(t)})
		})
	}
}

func chaos(t *testing.T, s suite) {
	const entities, states, parts, processes, senders, kills = 4, 4, 4, 3, 4, 4
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

	var events []webhook.Entry
	for entity := range entities {
		name := fmt.Sprint("order/", entity)
		for n := range states {
			events = append(events, change{Entity: name, Timestamp: noon.Add(time.Duration(n) * time.Second), State: fmt.Sprint(name, " state ", n)}.entry(fmt.Sprint("state_", entity, "_", n)))
		}
		for n := range parts {
			events = append(events, change{Entity: name, Part: strconv.Itoa(n), State: fmt.Sprint(name, " part ", n)}.entry(fmt.Sprint("part_", entity, "_", n)))
		}
	}

	work := func(ctx context.Context, e webhook.Event) error {
		if attempt, _ := claim.FromContext(ctx); attempt.Number()%3 == 1 && e.ID[1] < '6' {
			return errNotNow
		}
		return s.ordered(ctx, e)
	}
	f := &fleet{}
	for range processes {
		p := s.process(t, work)
		f.alive, f.all = append(f.alive, p), append(f.all, p)
	}

	order := r.Perm(len(events))
	queue := make(chan webhook.Entry, 2*len(events))
	for _, n := range order {
		queue <- events[n]
	}
	var sent sync.WaitGroup
	sent.Add(len(events))
	for n := range senders {
		go send(t, f, rand.New(rand.NewPCG(seed, uint64(n+1))), queue, &sent)
	}
	for range kills {
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) // not a wait for anything: the moment is what is drawn
		f.replace(r, s.process(t, work))
	}
	sent.Wait()
	close(queue)

	eventually(t, "every event is completed", func() bool {
		done := 0
		for _, err := range s.inbox.List(t.Context(), claim.Filter{Statuses: []claim.Status{claim.StatusCompleted}}) {
			if err != nil {
				t.Fatal(err)
			}
			done++
		}
		return done == len(events)
	})
	for _, p := range f.all {
		p.stop()
	}
	for _, p := range f.all {
		<-p.ended
	}
	for entity := range entities {
		name := fmt.Sprint("order/", entity)
		for n := range states {
			if got := s.effects(t, fmt.Sprint(name, " state ", n)); got > 1 || n == states-1 && got != 1 {
				t.Errorf("state %d of %d of %s has %d effects", n+1, states, name, got)
			}
		}
		for n := range parts {
			if got := s.effects(t, fmt.Sprint(name, " part ", n)); got != 1 {
				t.Errorf("part %d of %s has %d effects", n, name, got)
			}
		}
	}
}

// send delivers events until each was answered 2xx in a reply that was not lost; the others are put back behind the rest.
func send(t *testing.T, f *fleet, r *rand.Rand, queue chan webhook.Entry, sent *sync.WaitGroup) {
	for e := range queue {
		w := httptest.NewRecorder()
		f.pick(r).receiver.ServeHTTP(w, request(t, e.WebhookID, string(e.Payload)))
		if w.Code == 200 && r.IntN(3) > 0 {
			sent.Done()
			continue
		}
		queue <- e // there is room for every event twice
	}
}
