package scheduled_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

const (
	project = "acme-prod"
	region  = "europe-west1"
	job     = "nightly-report"
	account = "scheduler@acme-prod.iam.gserviceaccount.com"
)

// checkerFunc is a caller.Checker.
type checkerFunc func(*http.Request) (caller.Caller, error)

func (f checkerFunc) Check(r *http.Request) (caller.Caller, error) { return f(r) }

func verified(*http.Request) (caller.Caller, error) {
	return caller.Caller{Email: account, ProjectFromEmail: project, Verified: true}, nil
}

func unverified(*http.Request) (caller.Caller, error) { return caller.Caller{}, nil }

// fixture is a handler over a store in memory.
type fixture struct {
	handler *scheduled.Handler
	store   *memclaim.Store
	log     *lockedBuffer

	mu   sync.Mutex
	runs []run.Run
	work scheduled.Work // called by the handler's work, if set
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newFixture(t *testing.T, change func(*scheduled.Config)) *fixture {
	t.Helper()
	f := &fixture{store: memclaim.New(), log: &lockedBuffer{}}
	cfg := scheduled.Config{
		Store: f.store, Caller: checkerFunc(verified), Logger: slog.New(slog.NewJSONHandler(f.log, nil)),
		Jobs: map[string]scheduled.Work{job: f.do},
	}
	if change != nil {
		change(&cfg)
	}
	if store, ok := cfg.Store.(*memclaim.Store); ok {
		f.store = store
	}
	handler, err := scheduled.NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.handler = handler
	return f
}

func (f *fixture) do(ctx context.Context, r run.Run) error {
	f.mu.Lock()
	f.runs = append(f.runs, r)
	work := f.work
	f.mu.Unlock()
	if work == nil {
		return nil
	}
	return work(ctx, r)
}

// works sets what the work does from now on.
func (f *fixture) works(work func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.work = func(ctx context.Context, _ run.Run) error { return work(ctx) }
}

// executions are the runs that the work was called for.
func (f *fixture) executions() []run.Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]run.Run(nil), f.runs...)
}

// answer is what a delivery got.
type answer struct {
	status           int
	outcome          string
	outcomeHeader    string
	detail, mend     string
	retryAfter, kind string
	run, id          string
	attempt          int
}

func (f *fixture) send(t *testing.T, r *http.Request) answer {
	t.Helper()
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	var b struct {
		Outcome, Detail, Mend, Run string
		ID                         string `json:"run_id"`
		Attempt, Status            int
	}
	if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil {
		t.Errorf("the body %q is not JSON: %v", w.Body, err)
	}
	if w.Code >= 400 && b.Status != w.Code {
		t.Errorf("the body says status %d, the reply %d", b.Status, w.Code)
	}
	return answer{
		w.Code, b.Outcome, w.Header().Get("Idempotent-Run"), b.Detail, b.Mend, w.Header().Get("Retry-After"),
		w.Header().Get("Content-Type"), b.Run, b.ID, b.Attempt,
	}
}

func (f *fixture) want(t *testing.T, r *http.Request, status int, outcome claim.Outcome) answer {
	t.Helper()
	got := f.send(t, r)
	if got.status != status || got.outcomeHeader != string(outcome) || got.outcome != string(outcome) {
		t.Errorf("got %+v; want %d with Idempotent-Run %q\n%s", got, status, outcome, f.log)
	}
	return got
}

// deliver makes a delivery for a run that is due at that time.
func deliver(at time.Time, change ...func(http.Header)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("hello"))
	r.Header.Set(run.HeaderScheduler, "true")
	r.Header.Set(run.HeaderJobName, job)
	r.Header.Set(run.HeaderProject, project)
	r.Header.Set(run.HeaderRegion, region)
	if !at.IsZero() {
		r.Header.Set(run.HeaderScheduleTime, at.UTC().Format(time.RFC3339))
	}
	for _, c := range change {
		c(r.Header)
	}
	return r
}

func policy(p run.Policy) func(http.Header) {
	return func(h http.Header) { h.Set(run.HeaderPolicy, p.Encode()) }
}

// due is a schedule time that has just passed.
func due() time.Time { return time.Now().Truncate(time.Second) }

func nameOf(t *testing.T, at time.Time, forced bool) (name, id string) {
	t.Helper()
	name, err := run.Identity{Project: project, Region: region, Job: job, ScheduleTime: at, Forced: forced}.Name()
	if err != nil {
		t.Fatal(err)
	}
	return name, run.ID(name)
}

// counter counts calls to the store.
type counter struct{ insert, swap, get atomic.Int64 }

func (c *counter) hook(_ context.Context, verb memclaim.Verb, _ string) error {
	switch verb {
	case memclaim.Insert:
		c.insert.Add(1)
	case memclaim.Swap:
		c.swap.Add(1)
	case memclaim.Get:
		c.get.Add(1)
	case memclaim.Transact:
	}
	return nil
}
