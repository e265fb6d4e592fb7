package scheduled_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// refusedInputs has at least one refused value for each header and each part of the URL that the handler reads.
func refusedInputs() []struct {
	name, part   string
	change       func(*http.Request)
	status       int
	detail, mend string
} {
	const fromJob = "call this handler by a Cloud Scheduler job, which sets it"
	const asTime = "send it like 2026-10-16T12:00:00Z or 2026-10-16T05:00:00-07:00"
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	twice := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, "a"); r.Header[strings.ToLower(name)] = []string{"b"} }
	}
	without := func(names ...string) func(*http.Request) {
		return func(r *http.Request) {
			for _, name := range names {
				r.Header.Del(name)
			}
		}
	}
	at := func(url string) func(*http.Request) {
		return func(r *http.Request) {
			without(run.HeaderProject, run.HeaderRegion)(r)
			parsed, err := r.URL.Parse(url)
			if err != nil {
				panic(err)
			}
			r.URL = parsed
		}
	}
	return []struct {
		name, part   string
		change       func(*http.Request)
		status       int
		detail, mend string
	}{
		{"no scheduler", run.HeaderScheduler, without(run.HeaderScheduler), 400, "header X-CloudScheduler is missing", fromJob},
		{"not by the scheduler", run.HeaderScheduler, set(run.HeaderScheduler, "yes"), 400, `header X-CloudScheduler is "yes", not true`, fromJob},
		{"scheduler twice", run.HeaderScheduler, twice(run.HeaderScheduler), 400, "header X-CloudScheduler is there 2 times", "send it once"},
		{"no job", run.HeaderJobName, without(run.HeaderJobName), 400, "header X-CloudScheduler-JobName is missing", fromJob},
		{"full name", run.HeaderJobName, set(run.HeaderJobName, "projects/p/locations/l/jobs/j"), 400, `header X-CloudScheduler-JobName: job of the run is "projects/p/locations/l/jobs/j": it must be [A-Za-z0-9_-]{1,500}`, "send the job's short id"},
		{"job twice", run.HeaderJobName, twice(run.HeaderJobName), 400, "header X-CloudScheduler-JobName is there 2 times", "send it once"},
		{"no time", run.HeaderScheduleTime, without(run.HeaderScheduleTime), 400, "header X-CloudScheduler-ScheduleTime is missing, so that the run cannot be told from others", "use a unix-cron schedule and do not force the run, or let the handler run without a schedule time, unguarded"},
		{"odd time", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "yesterday"), 400, `header X-CloudScheduler-ScheduleTime is "yesterday", not a time in RFC 3339`, asTime},
		{"time without zone", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "2026-10-16T12:00:00"), 400, `header X-CloudScheduler-ScheduleTime is "2026-10-16T12:00:00", not a time in RFC 3339`, asTime},
		{"fraction by comma", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "2026-10-16T12:00:00,5Z"), 400, `header X-CloudScheduler-ScheduleTime is "2026-10-16T12:00:00,5Z", not a time in RFC 3339`, asTime},
		{"year zero", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "0000-10-16T12:00:00Z"), 400, `header X-CloudScheduler-ScheduleTime is "0000-10-16T12:00:00Z", not a time in RFC 3339`, asTime},
		{"year ten thousand", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "9999-12-31T23:59:59-01:00"), 400, `header X-CloudScheduler-ScheduleTime is "9999-12-31T23:59:59-01:00", not a time in RFC 3339`, asTime},
		{"long time", run.HeaderScheduleTime, set(run.HeaderScheduleTime, strings.Repeat("x", 101)), 400, `header X-CloudScheduler-ScheduleTime is "` + strings.Repeat("x", 100) + `"… (101 bytes), not a time in RFC 3339`, asTime},
		{"zero time", run.HeaderScheduleTime, set(run.HeaderScheduleTime, "0001-01-01T01:00:00+01:00"), 400, `header X-CloudScheduler-ScheduleTime is "0001-01-01T01:00:00+01:00", not a time in RFC 3339`, asTime},
		{"time twice", run.HeaderScheduleTime, twice(run.HeaderScheduleTime), 400, "header X-CloudScheduler-ScheduleTime is there 2 times", "send it once"},
		{"odd project", run.HeaderProject, set(run.HeaderProject, "a/b"), 400, `header X-Idempotent-Project: project of the run is "a/b": it must be [A-Za-z0-9:.-]{1,300}`, "send the job's own project"},
		{"empty project", run.HeaderProject, set(run.HeaderProject, ""), 400, "header X-Idempotent-Project: project of the run is empty: it must be [A-Za-z0-9:.-]{1,300}", "send the job's own project"},
		{"project twice", run.HeaderProject, twice(run.HeaderProject), 400, "header X-Idempotent-Project is there 2 times", "send it once"},
		{"another's project", run.HeaderProject, set(run.HeaderProject, "evil"), 403, `project "evil" is not the caller's, which is "acme-prod"`, "let the job call as a service account of its own project"},
		{"no project", run.HeaderProject, without(run.HeaderProject), 400, "the project of the job is not known", "send the header X-Idempotent-Project, as the provider does, a query parameter project, or set IDEMPOTENT_PROJECT"},
		{"odd region", run.HeaderRegion, set(run.HeaderRegion, "Europe"), 400, `header X-Idempotent-Region: region of the run is "Europe": it must be [a-z0-9-]{1,63}`, "send the job's own region"},
		{"region twice", run.HeaderRegion, twice(run.HeaderRegion), 400, "header X-Idempotent-Region is there 2 times", "send it once"},
		{"no region", run.HeaderRegion, without(run.HeaderRegion), 400, "the region of the job is not known", "send the header X-Idempotent-Region, as the provider does, a query parameter region, or set IDEMPOTENT_REGION"},
		{"policy twice", run.HeaderPolicy, twice(run.HeaderPolicy), 400, "header X-Idempotent-Policy is there 2 times", "send it once"},
		{"odd policy", run.HeaderPolicy, set(run.HeaderPolicy, "v=1;deadline"), 500, `the policy cannot be honoured, nothing was run: policy key "deadline" is not of the form key=value`, "make the job and its handler agree: apply the one and deploy the other"},
		{"odd clock", run.HeaderClock, set(run.HeaderClock, "noon"), 400, `header X-Idempotent-Clock is "noon", not a time in RFC 3339`, asTime},
		{"clock twice", run.HeaderClock, twice(run.HeaderClock), 400, "header X-Idempotent-Clock is there 2 times", "send it once"},
		{"path project", "path", at("/x/projects/a!/locations/europe-west1"), 400, `path: project of the run is "a!": it must be [A-Za-z0-9:.-]{1,300}`, "send the job's own project"},
		{"path region", "path", at("/x/projects/acme-prod/locations/!"), 400, `path: region of the run is "!": it must be [a-z0-9-]{1,63}`, "send the job's own region"},
		{"query project", "query", at("/?project=a!&region=europe-west1"), 400, `query parameter project: project of the run is "a!": it must be [A-Za-z0-9:.-]{1,300}`, "send the job's own project"},
		{"query region", "query", at("/?project=acme-prod&region="), 400, "query parameter region: region of the run is empty: it must be [a-z0-9-]{1,63}", "send the job's own region"},
		{"query twice", "query", at("/?project=acme-prod&project=evil"), 400, "query parameter project is there 2 times", "send it once"},
		{"query that is none", "query", at("/?project=%zz"), 400, "the query of the URL cannot be read", "escape it as URLs need it"},
		{"large body", "body", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("123456789")), -1 }, 413, "the body is too large", "hand over a reference to what is large"},
		{"broken body", "body", func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(errors.New("reset"))) }, 400, "the body cannot be read", "send it whole"},
	}
}

func TestBadInputIsRefusedWithAReasonAndAMend(t *testing.T) {
	t.Parallel()
	for _, test := range refusedInputs() {
		f := newFixture(t, func(c *scheduled.Config) { c.LocalCloud, c.MaxBody = true, 8 })
		r := deliver(due())
		r.RemoteAddr = "127.0.0.1:4711"
		test.change(r)
		got := f.want(t, r, test.status, "")
		if got.detail != test.detail || got.mend != test.mend {
			t.Errorf("%s: got %q, mend %q; want %q, mend %q", test.name, got.detail, got.mend, test.detail, test.mend)
		}
		if len(f.executions()) != 0 {
			t.Errorf("%s: the work was called", test.name)
		}
	}
}

func TestEveryHeaderHasARefusedValue(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{run.HeaderOutcome: true} // a header of replies
	for _, test := range refusedInputs() {
		covered[test.part] = true
	}
	for name, value := range constantsOf(t, "Header") {
		if !covered[value] {
			t.Errorf("no refused value of %s (%s) is tested", name, value)
		}
	}
}

func TestScheduleTimeIsReadInBothForms(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	spell := func(text string) func(http.Header) {
		return func(h http.Header) { h.Set(run.HeaderScheduleTime, text) }
	}
	f.want(t, deliver(time.Time{}, spell("2026-10-16T12:00:00Z")), 200, claim.OutcomeExecuted)
	f.want(t, deliver(time.Time{}, spell("2026-10-16T05:00:00-07:00")), 200, claim.OutcomeDuplicate)
	got := f.want(t, deliver(time.Time{}, spell("2026-10-16T12:00:00.25Z")), 200, claim.OutcomeExecuted)
	if !strings.HasSuffix(got.run, "/runs/2026-10-16T12:00:00.25Z") {
		t.Errorf("the run is %s", got.run)
	}
}

func TestHeadersAreFoundInAnyCase(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	r := deliver(due())
	for name, values := range r.Header.Clone() {
		delete(r.Header, name)
		r.Header[strings.ToLower(name)] = values
	}
	f.want(t, r, 200, claim.OutcomeExecuted)
}

func TestProjectAndRegionComeFromHeaderPathQueryOrSetting(t *testing.T) {
	t.Parallel()
	own := func(c *scheduled.Config) {
		c.Project, c.Region = "acme-own", "us-central1"
		c.Caller = checkerFunc(func(*http.Request) (caller.Caller, error) { return caller.Caller{Verified: true}, nil })
	}
	for _, test := range []struct {
		name, url       string
		headers         bool
		project, region string
	}{
		{"header", "/projects/p/locations/l?project=q&region=q", true, project, region},
		{"path", "/x/projects/acme-path/locations/asia-east1/y?project=q", false, "acme-path", "asia-east1"},
		{"query", "/projects?project=acme-query&region=us-east1", false, "acme-query", "us-east1"},
		{"a path that is none, and query", "/projects/p/zones/asia-east1/x?project=acme-query&region=us-east1", false, "acme-query", "us-east1"},
		{"query and setting", "/?region=us-east1", false, "acme-own", "us-east1"},
		{"setting", "/", false, "acme-own", "us-central1"},
	} {
		f := newFixture(t, own)
		r := deliver(due())
		if !test.headers {
			r.Header.Del(run.HeaderProject)
			r.Header.Del(run.HeaderRegion)
		}
		var err error
		if r.URL, err = r.URL.Parse(test.url); err != nil {
			t.Fatal(err)
		}
		f.want(t, r, 200, claim.OutcomeExecuted)
		if runs := f.executions(); len(runs) != 1 || runs[0].Project != test.project || runs[0].Region != test.region {
			t.Errorf("%s: the work saw %+v; want %s in %s", test.name, runs, test.project, test.region)
		}
	}
	f := newFixture(t, own)
	mux := http.NewServeMux()
	mux.Handle("/{project}/{region}", f.handler)
	r := deliver(due())
	r.Header.Del(run.HeaderProject)
	r.Header.Del(run.HeaderRegion)
	r.URL.Path = "/acme-mux/europe-north1"
	mux.ServeHTTP(discard{http.Header{}}, r)
	if runs := f.executions(); len(runs) != 1 || runs[0].Project != "acme-mux" || runs[0].Region != "europe-north1" {
		t.Errorf("behind a mux the work saw %+v", runs)
	}
}

// discard is a http.ResponseWriter.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func TestScopeNamesRunsWithoutProjectAndRegion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	at, scoped := due(), policy(run.Policy{Scope: "eu_pair"})
	without := func(h http.Header) { h.Del(run.HeaderProject); h.Del(run.HeaderRegion) }
	got := f.want(t, deliver(at, scoped, without), 200, claim.OutcomeExecuted)
	if !strings.HasPrefix(got.run, "scopes/eu_pair/runs/") {
		t.Errorf("the run is %s", got.run)
	}
	f.want(t, deliver(at, scoped, func(h http.Header) { h.Set(run.HeaderRegion, "europe-west4") }), 200, claim.OutcomeDuplicate)
}

func TestTheSamplesFormatNamesRunsWithoutProjectAndRegion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	at := due()
	without := func(h http.Header) { h.Del(run.HeaderProject); h.Del(run.HeaderRegion) }
	got := f.want(t, deliver(at, policy(run.Policy{Format: run.FormatSample}), without), 200, claim.OutcomeExecuted)
	if want := job + "/" + at.UTC().Format(time.RFC3339); got.run != want {
		t.Errorf("the run is %s; want %s", got.run, want)
	}
}

func TestPolicyCountsOnlyFromVerifiedCallers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *scheduled.Config) {
		c.Caller = checkerFunc(unverified)
		c.Policy = run.Policy{Scope: "own"}
	})
	for _, header := range []string{"v=1;scope=theirs", "v=99", "nonsense"} {
		got := f.send(t, deliver(due(), func(h http.Header) { h.Set(run.HeaderPolicy, header) }))
		if got.status != 200 || !strings.HasPrefix(got.run, "scopes/own/") {
			t.Errorf("%s: got %+v; want the handler's own policy", header, got)
		}
	}
}

// TestProjectAndRegionHeadersCountOnlyFromVerifiedCallers: they are what Terraform injects, like the policy.
func TestProjectAndRegionHeadersCountOnlyFromVerifiedCallers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *scheduled.Config) {
		c.Caller, c.Project, c.Region = checkerFunc(unverified), "acme-own", "us-central1"
	})
	if got := f.want(t, deliver(due()), 200, claim.OutcomeExecuted); !strings.HasPrefix(got.run, "projects/acme-own/locations/us-central1/") {
		t.Errorf("the run is %s", got.run)
	}
	f = newFixture(t, func(c *scheduled.Config) { c.Caller = checkerFunc(unverified) })
	got := f.send(t, deliver(due()))
	if got.status != 400 || !strings.Contains(got.mend, run.EnvProject) || !strings.Contains(got.mend, "from callers that are not verified") {
		t.Errorf("without a setting: %+v", got)
	}
}

func TestPolicyOfAVerifiedCallerReplacesTheHandlersOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *scheduled.Config) { c.Policy = run.Policy{Scope: "own", Forced: run.ForcedReject} })
	at := due().Add(time.Hour)
	f.want(t, deliver(at), 200, claim.OutcomeRejected)
	got := f.want(t, deliver(at, policy(run.Policy{})), 200, claim.OutcomeExecuted)
	if name, _ := nameOf(t, at, true); got.run != name {
		t.Errorf("the run is %s; want %s", got.run, name)
	}
}

func TestPolicySetsLeaseAndRetentionOfTheRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	at := due()
	_, id := nameOf(t, at, false)
	f.want(t, deliver(at, policy(run.Policy{Lease: 77 * time.Second, Retention: 5 * time.Hour})), 200, claim.OutcomeExecuted)
	snap, err := f.store.Get(t.Context(), id)
	if err != nil || snap.Lease != 77*time.Second {
		t.Errorf("the record is %+v, %v; want a lease of 77 s", snap.Record, err)
	}
	if kept := snap.ExpireAt.Sub(at); kept < 5*time.Hour || kept > 5*time.Hour+10*time.Second+77*time.Second {
		t.Errorf("the record is kept for %v; want 5 h", kept)
	}
}

// waits is a ResponseWriter that notes until when the body of its request is waited for.
type waits struct {
	*httptest.ResponseRecorder

	until time.Time
}

func (w *waits) SetReadDeadline(until time.Time) error {
	if w.until.IsZero() {
		w.until = until
	}
	return nil
}

func TestABodyIsNotWaitedForLongerThanTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		w := &waits{ResponseRecorder: httptest.NewRecorder()}
		f.handler.ServeHTTP(w, deliver(due()))
		if left := time.Until(w.until); w.Code != 200 || left != 10*time.Second {
			t.Errorf("it is waited for during %v, and the delivery got %d", left, w.Code)
		}
	})
}

func TestPolicySaysHowLongTheWorkMayTake(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy  func(http.Header)
		request time.Duration // the handler's own longest request
		want    time.Duration
		cause   error
	}{
		"a request shorter than the deadline": {policy(run.Policy{Deadline: 30 * time.Second, Timeout: 20 * time.Second}), 0, 20 * time.Second, claim.ErrTimeout},
		"a request longer than the deadline":  {policy(run.Policy{Deadline: 20 * time.Second, Timeout: 30 * time.Second}), 0, 30 * time.Second, claim.ErrTimeout},
		"no policy":                           {func(http.Header) {}, 20 * time.Second, 20 * time.Second, claim.ErrTimeout},
		"a lease that is renewed":             {policy(run.Policy{Deadline: 60 * time.Second, Lease: 15 * time.Second, Renew: true}), 0, 60 * time.Second, claim.ErrTimeout},
		"a lease that is not":                 {policy(run.Policy{Deadline: 60 * time.Second, Lease: 15 * time.Second}), 0, 13500 * time.Millisecond, claim.ErrLeaseEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(c *scheduled.Config) { c.RequestTimeout = tt.request })
				f.works(func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
				began := time.Now()
				f.want(t, deliver(due(), tt.policy), 500, claim.OutcomeReleased)
				if took := time.Since(began); took != tt.want || !strings.Contains(f.log.String(), tt.cause.Error()) {
					t.Errorf("it ended after %v; want %v by %v: %s", took, tt.want, tt.cause, f.log)
				}
			})
		})
	}
}

func TestPreviousTimeComesFromTheSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	at := time.Date(2026, 3, 30, 1, 0, 0, 0, time.UTC) // Monday, 03:00 in Berlin, the day after the clocks went forward
	for _, test := range []struct {
		policy run.Policy
		want   time.Time
	}{
		{run.Policy{Schedule: "0 3 * * *", TimeZone: "Europe/Berlin"}, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},
		{run.Policy{Schedule: "0 3 * * 1-5", TimeZone: "Europe/Berlin"}, time.Date(2026, 3, 27, 2, 0, 0, 0, time.UTC)},
		{run.Policy{Schedule: "0 * * * *"}, time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC)},
		{run.Policy{}, time.Time{}},
	} {
		p := test.policy
		p.Scope = run.ID(p.Encode())[:20]
		f.want(t, deliver(at, policy(p)), 200, claim.OutcomeExecuted)
		runs := f.executions()
		if got := runs[len(runs)-1].PreviousTime; !got.Equal(test.want) {
			t.Errorf("%s: the previous time is %v; want %v", p.Encode(), got, test.want)
		}
	}
}

func TestWorkSeesTheRunAndTheRequestInItsContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.works(func(ctx context.Context) error {
		r, ok := run.FromContext(ctx)
		if !ok || r != f.executions()[0] {
			t.Errorf("the context carries %+v; the argument was %+v", r, f.executions()[0])
		}
		d, ok := scheduled.Request(ctx)
		if !ok || d.Method != http.MethodPost || d.Path != "/a" || d.RawQuery != "b=c" || string(d.Body) != "hello" ||
			d.Header.Get("X-Own") != "1" || d.Caller.Email != account {
			t.Errorf("the context carries the request %+v", d)
		}
		for _, secret := range []string{
			"Authorization", "X-Serverless-Authorization", "Cookie", "Proxy-Authorization", "X-Goog-Iap-Jwt-Assertion",
		} {
			if d.Header.Get(secret) != "" {
				t.Errorf("the work sees the header %s", secret)
			}
		}
		return claim.Check(ctx)
	})
	r := deliver(due(), func(h http.Header) {
		h.Set("X-Own", "1")
		h.Set("Authorization", "Bearer secret")
		h.Set("X-Serverless-Authorization", "Bearer secret")
		h.Set("Cookie", "a=b")
		h.Set("Proxy-Authorization", "Basic secret")
		h.Set("X-Goog-Iap-Jwt-Assertion", "secret")
	})
	r.URL.Path, r.URL.RawQuery = "/a", "b=c"
	f.want(t, r, 200, claim.OutcomeExecuted)
	if r.Header.Get("Authorization") != "Bearer secret" {
		t.Error("what is kept from the work is taken from the request itself, too")
	}
	if _, ok := scheduled.Request(t.Context()); ok {
		t.Error("a bare context carries a request")
	}
	if strings.Contains(f.log.String(), "secret") {
		t.Errorf("the log holds a credential: %s", f.log)
	}
}

// FuzzDelivery holds that no header makes the handler panic or answer anything that the table does not have.
func FuzzDelivery(f *testing.F) {
	f.Add("true", job, "2026-10-16T12:00:00Z", project, region, "v=1;deadline=180s;schedule=0 3 * * *;tz=Europe/Berlin", "/?project=x")
	f.Add("", "a/b", "x", "", "", "v=1;lease=1ns", "/projects/a/locations/b")
	f.Fuzz(func(t *testing.T, scheduler, name, at, inProject, inRegion, terms, url string) {
		fixture := newFixture(t, func(c *scheduled.Config) { c.Work = func(context.Context, run.Run) error { return nil } })
		r := deliver(time.Time{})
		if parsed, err := r.URL.Parse(url); err == nil {
			r.URL = parsed
		}
		for header, value := range map[string]string{
			run.HeaderScheduler: scheduler, run.HeaderJobName: name, run.HeaderScheduleTime: at, run.HeaderProject: inProject,
			run.HeaderRegion: inRegion, run.HeaderPolicy: terms,
		} {
			r.Header.Set(header, value)
		}
		switch got := fixture.send(t, r); got.status {
		case 200:
			if got.outcome != "executed" || got.run == "" {
				t.Errorf("got %+v", got)
			}
		case 400, 403, 500:
			if got.detail == "" || got.mend == "" {
				t.Errorf("got %+v; want a reason and a mend", got)
			}
		default:
			t.Errorf("got %+v", got)
		}
	})
}
