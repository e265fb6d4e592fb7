package claimtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// T is what is needed of a test: a *testing.T is one.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Lease is the lease of the claims that [Work] makes.
const Lease = time.Minute

// Answer is what a delivery got.
type Answer struct {
	// Outcome is that of the claim; empty when the process died before it answered.
	Outcome claim.Outcome
	// Code is the HTTP status, Body the body. Zero for Work.
	Code int
	Body string
	// Attempt is the attempt that did the work. Zero: the delivery did none, or it went to a Handler.
	Attempt int
	// Err is the error of the work or the store, for Work.
	Err error
}

func (a Answer) String() string {
	switch {
	case a.Outcome == "" && a.Code == 0:
		return "no answer"
	case a.Code != 0:
		return strings.TrimSpace(fmt.Sprintf("%d %s", a.Code, a.Outcome))
	case a.Err != nil:
		return fmt.Sprintf("%s (%v)", a.Outcome, a.Err)
	default:
		return string(a.Outcome)
	}
}

// Deliveries delivers one run, again and again. Make them with [Work] or [Handler].
type Deliveries struct {
	t     T
	store *Store
	send  func(*Process) Answer // by a process of its own

	mu   sync.Mutex
	live *Process // the process that takes the deliveries
}

// Run returns a run of the job that was due a minute ago, made up but for its name.
func Run(job string) run.Run {
	identity := run.Identity{
		Project: "my-project", Region: "europe-west1", Job: job, ScheduleTime: time.Now().UTC().Truncate(time.Minute).Add(-time.Minute),
	}

	name, err := identity.Name()
	if err != nil {
		panic(err) // a job name that no job can have: a mistake in the test
	}

	return run.Run{Identity: identity, Name: name, ID: run.ID(name)}
}

// Work returns deliveries of r to a work.
func Work(t T, r run.Run, work func(context.Context, run.Run) error) *Deliveries {
	var (
		mu       sync.Mutex
		claimers = map[*Process]*claim.Claimer{}
	)

	return newDeliveries(t, func(p *Process) Answer {
		mu.Lock()

		c := claimers[p]
		if c == nil {
			c = claim.New(p, claim.WithLogger(slog.New(slog.DiscardHandler)))
			claimers[p] = c
		}

		mu.Unlock()

		proposal := claim.Proposal{
			ID: r.ID, Run: r.Name, ScheduleTime: r.ScheduleTime, Lease: Lease, Retention: 24 * time.Hour,
		}
		res := c.Do(context.Background(), proposal, func(ctx context.Context) error {
			r := r
			if a, ok := claim.FromContext(ctx); ok {
				r.Attempt = a.Number()
			}

			return work(run.NewContext(ctx, &r), r)
		})

		return Answer{Outcome: res.Outcome, Attempt: res.Attempt, Err: res.Err}
	})
}

// Handler returns deliveries to a handler. Build makes the handler of one process over its store; request makes one delivery, see
// [Request].
func Handler(t T, request func() *http.Request, build func(claim.Store) http.Handler) *Deliveries {
	var (
		mu       sync.Mutex
		handlers = map[*Process]http.Handler{}
	)

	return newDeliveries(t, func(p *Process) Answer {
		mu.Lock()

		h := handlers[p]
		if h == nil {
			h = build(p)
			handlers[p] = h
		}

		mu.Unlock()

		reply := httptest.NewRecorder()
		h.ServeHTTP(reply, request())

		return Answer{
			Outcome: claim.Outcome(reply.Header().Get(run.HeaderOutcome)), Code: reply.Code, Body: reply.Body.String(),
		}
	})
}

// Request returns one delivery of r as Cloud Scheduler makes it, from this machine, without a token.
func Request(r run.Run) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	req.RemoteAddr = "127.0.0.1:1024"
	req.Header.Set("User-Agent", "Google-Cloud-Scheduler")
	req.Header.Set(run.HeaderScheduler, "true")
	req.Header.Set(run.HeaderJobName, r.Job)
	req.Header.Set(run.HeaderScheduleTime, run.FormatTime(r.ScheduleTime))
	req.Header.Set(run.HeaderProject, r.Project)
	req.Header.Set(run.HeaderRegion, r.Region)

	return req
}

func newDeliveries(t T, send func(*Process) Answer) *Deliveries {
	store := NewStore()

	return &Deliveries{t: t, store: store, send: send, live: store.Process()}
}

// Store returns the store of the claims.
func (d *Deliveries) Store() *Store { return d.store }

// Deliver delivers the run once.
func (d *Deliveries) Deliver() Answer {
	d.mu.Lock()
	p := d.live
	d.mu.Unlock()

	return d.sent(p)
}

// Concurrently delivers the run n times at once and returns when all are answered.
func (d *Deliveries) Concurrently(n int) []Answer {
	answers := make([]Answer, n)

	var wg sync.WaitGroup

	for i := range answers {
		wg.Go(func() { answers[i] = d.Deliver() })
	}

	wg.Wait()

	return answers
}

// LoseReply delivers the run once, while the store's answers to what the claim writes are applied and lost on the way.
func (d *Deliveries) LoseReply() Answer {
	d.store.LoseReplies(2) // of the claim, and of its end
	defer d.store.LoseReplies(0)

	return d.Deliver()
}

// Crash delivers the run once to a process that dies when the work has returned, before its end is recorded. Later deliveries go to
// another process. The claim stays until [Deliveries.EndLease].
func (d *Deliveries) Crash() Answer {
	p := d.store.Process()
	p.KillAfterClaim()

	answer := d.sent(p)
	p.Kill()

	return answer
}

// EndLease moves the store's clock to the end of the dead attempt's lease.
func (d *Deliveries) EndLease() { d.store.EndLeases() }

// sent delivers in a goroutine that may end with the process.
func (d *Deliveries) sent(p *Process) Answer {
	answered := make(chan Answer, 1)

	go func() {
		defer close(answered)
		answered <- d.send(p)
	}()

	return <-answered
}

// WantOnce fails the test unless at most one of the answers is executed, every other one is a duplicate or told that another is in
// progress, and the run is completed by now.
func (d *Deliveries) WantOnce(answers ...Answer) {
	d.t.Helper()

	executed := 0

	for _, a := range answers {
		switch a.Outcome {
		case claim.OutcomeExecuted:
			executed++
		case claim.OutcomeDuplicate, claim.OutcomeInProgress:
		default:
			d.t.Errorf("a delivery got %s, want executed, duplicate or in_progress", a)
		}
	}

	if executed > 1 {
		d.t.Errorf("%d of %d deliveries were executed, want one at most", executed, len(answers))
	}

	if last := d.Deliver(); last.Outcome != claim.OutcomeDuplicate {
		d.t.Errorf("one more delivery got %s, want duplicate: the run is not completed", last)
	}
}
