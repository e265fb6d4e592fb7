package jobspec_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// blur makes a value unknown, if it is set.
func blur[T any](v *jobspec.Value[T]) {
	if v.IsSet() {
		*v = jobspec.Unknown[T]()
	}
}

// blurs lists what of a job a plan may not know, one by one. Blocks are copied before they are changed.
func blurs() []func(*jobspec.Job) {
	type (
		job   = jobspec.Job
		dedup = jobspec.Deduplication
	)
	http := func(change func(*jobspec.HTTPTarget)) func(*job) {
		return func(j *job) {
			if j.HTTP.IsKnown() {
				onHTTP(j, change)
			}
		}
	}
	oidc := func(change func(*jobspec.OIDCToken)) func(*job) {
		return http(func(t *jobspec.HTTPTarget) {
			if token, ok := t.OIDCToken.Get(); ok {
				change(&token)
				t.OIDCToken = jobspec.Known(token)
			}
		})
	}
	app := func(change func(*jobspec.AppEngineTarget)) func(*job) {
		return func(j *job) {
			if t, ok := j.AppEngine.Get(); ok {
				change(&t)
				j.AppEngine = jobspec.Known(t)
			}
		}
	}
	unknownValues := func(headers *jobspec.Value[jobspec.Headers]) {
		if known, ok := headers.Get(); ok {
			blurred := jobspec.Headers{}
			for name := range known {
				blurred[name] = jobspec.Unknown[string]()
			}
			*headers = jobspec.Known(blurred)
		}
	}
	return []func(*job){
		func(j *job) { blur(&j.Name) }, func(j *job) { blur(&j.Project) }, func(j *job) { blur(&j.Region) },
		func(j *job) { blur(&j.Description) }, func(j *job) { blur(&j.Schedule) }, func(j *job) { blur(&j.TimeZone) },
		func(j *job) { blur(&j.AttemptDeadline) }, func(j *job) { blur(&j.HTTP) }, func(j *job) { blur(&j.AppEngine) },
		func(j *job) { blur(&j.PubSub) }, func(j *job) { blur(&j.AcceptedRisks) },
		http(func(t *jobspec.HTTPTarget) { blur(&t.URI) }), http(func(t *jobspec.HTTPTarget) { blur(&t.Method) }),
		http(func(t *jobspec.HTTPTarget) { blur(&t.Body) }), http(func(t *jobspec.HTTPTarget) { blur(&t.BodyText) }),
		http(func(t *jobspec.HTTPTarget) { blur(&t.Headers) }), http(func(t *jobspec.HTTPTarget) { blur(&t.HeadersWO) }),
		http(func(t *jobspec.HTTPTarget) { unknownValues(&t.Headers) }), http(func(t *jobspec.HTTPTarget) { unknownValues(&t.HeadersWO) }),
		http(func(t *jobspec.HTTPTarget) { blur(&t.OIDCToken) }), http(func(t *jobspec.HTTPTarget) { blur(&t.OAuthToken) }),
		oidc(func(t *jobspec.OIDCToken) { blur(&t.Audience) }), oidc(func(t *jobspec.OIDCToken) { blur(&t.ServiceAccountEmail) }),
		app(func(t *jobspec.AppEngineTarget) { blur(&t.RelativeURI) }), app(func(t *jobspec.AppEngineTarget) { blur(&t.Method) }),
		app(func(t *jobspec.AppEngineTarget) { blur(&t.Body) }), app(func(t *jobspec.AppEngineTarget) { blur(&t.Headers) }),
		func(j *job) { blur(&j.Retry.Count) }, func(j *job) { blur(&j.Retry.MaxDuration) }, func(j *job) { blur(&j.Retry.MinBackoff) },
		func(j *job) { blur(&j.Retry.MaxBackoff) }, func(j *job) { blur(&j.Retry.MaxDoublings) },
		on(func(d *dedup) { blur(&d.Mode) }), on(func(d *dedup) { blur(&d.Store) }), on(func(d *dedup) { blur(&d.Contract) }),
		on(func(d *dedup) { blur(&d.RequestTimeout) }), on(func(d *dedup) { blur(&d.Lease) }), on(func(d *dedup) { blur(&d.RenewLease) }),
		on(func(d *dedup) { blur(&d.Retention) }), on(func(d *dedup) { blur(&d.ForcedRuns) }), on(func(d *dedup) { blur(&d.RunScope) }),
		on(func(d *dedup) { blur(&d.RunIDFormat) }), on(func(d *dedup) { blur(&d.MaxAttempts) }), on(func(d *dedup) { blur(&d.AtMostOnce) }),
		on(func(d *dedup) { blur(&d.Wait) }), on(func(d *dedup) { blur(&d.Previous) }),
	}
}

func on(change func(*jobspec.Deduplication)) func(*jobspec.Job) {
	return func(j *jobspec.Job) { change(&j.Deduplication) }
}

// values are the derived values by name: what is known of each, or a mark.
func values(d jobspec.Derived) map[string]string {
	all := map[string]string{}
	put := func(name string, known bool, value any) {
		if known {
			all[name] = fmt.Sprint(value)
		}
	}
	put("mode", d.Mode.IsKnown(), d.Mode.OrZero())
	put("attempt_deadline", d.AttemptDeadline.IsKnown(), d.AttemptDeadline.OrZero())
	put("audience", d.Audience.IsKnown(), d.Audience.OrZero())
	put("blocked", d.Blocked.IsKnown(), d.Blocked.OrZero())
	put("horizon", d.Horizon.IsKnown(), d.Horizon.OrZero())
	put("policy", d.Policy.IsKnown(), d.Policy.OrZero())
	put("timetable", d.Timetable() != nil, d.Timetable())
	for name, header := range d.Headers {
		put(name, header.IsKnown(), header.OrZero())
	}
	r, u := d.Retry, d.Deduplication
	put("retry_count", r.Count.IsKnown(), r.Count.OrZero())
	put("max_retry_duration", r.MaxDuration.IsKnown(), r.MaxDuration.OrZero())
	put("min_backoff_duration", r.MinBackoff.IsKnown(), r.MinBackoff.OrZero())
	put("max_backoff_duration", r.MaxBackoff.IsKnown(), r.MaxBackoff.OrZero())
	put("max_doublings", r.MaxDoublings.IsKnown(), r.MaxDoublings.OrZero())
	put("store", u.Store.IsKnown(), u.Store.OrZero())
	put("manage_ttl", u.ManageTTL.IsKnown(), u.ManageTTL.OrZero())
	put("request_timeout", u.RequestTimeout.IsKnown(), u.RequestTimeout.OrZero())
	put("lease", u.Lease.IsKnown(), u.Lease.OrZero())
	put("renew_lease", u.RenewLease.IsKnown(), u.RenewLease.OrZero())
	put("retention", u.Retention.IsKnown(), u.Retention.OrZero())
	put("forced_runs", u.ForcedRuns.IsKnown(), u.ForcedRuns.OrZero())
	put("run_scope", u.RunScope.IsKnown(), u.RunScope.OrZero())
	put("run_id_format", u.RunIDFormat.IsKnown(), u.RunIDFormat.OrZero())
	put("max_attempts", u.MaxAttempts.IsKnown(), u.MaxAttempts.OrZero())
	put("at_most_once", u.AtMostOnce.IsKnown(), u.AtMostOnce.OrZero())
	put("wait", u.Wait.IsKnown(), u.Wait.OrZero())
	return all
}

// truth is what holds for a job once all is known.
type truth struct {
	values map[string]string
	report jobspec.Report
}

func truthOf(j jobspec.Job) truth { return truth{values(jobspec.Derive(j)), jobspec.Evaluate(j)} }

// guessed names what is known of the blurred job and differs from what holds for the whole one.
func (w truth) guessed(blurred jobspec.Job) string {
	for name, value := range values(jobspec.Derive(blurred)) {
		if w.values[name] != value {
			return fmt.Sprintf("%s = %s, but it is %s once all is known", name, value, w.values[name])
		}
	}
	for _, f := range jobspec.Evaluate(blurred).Findings {
		same := func(g jobspec.Finding) bool {
			return g.Rule == f.Rule && g.Path.String() == f.Path.String() && g.Severity == f.Severity
		}
		if !slices.ContainsFunc(w.report.Findings, same) {
			return fmt.Sprintf("%s at %s, which is not found once all is known", f.Rule, f.Path)
		}
	}
	return ""
}

func TestNothingIsGuessedFromWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	all := blurs()
	for _, c := range cases() {
		for _, j := range []jobspec.Job{c.fire, c.pass} {
			whole := truthOf(j)
			for i, blur := range all {
				blurred := j
				blur(&blurred)
				if wrong := whole.guessed(blurred); wrong != "" {
					t.Errorf("%s %s, blur %d: %s", c.rule, c.name, i, wrong)
				}
			}
		}
	}
}

func TestNothingIsGuessedFromAnyNumberOfUnknowns(t *testing.T) {
	t.Parallel()
	all := blurs()
	rapid.Check(t, func(t *rapid.T) {
		j := anyJob(t)
		whole := truthOf(j)
		for range 20 {
			blurred := j
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), 0, 4, rapid.ID[int]).Draw(t, "blurred") {
				all[i](&blurred)
			}
			if wrong := whole.guessed(blurred); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}

func TestADerivedValueIsKnownWhenItsInputsAre(t *testing.T) {
	t.Parallel()
	unknownDuration := jobspec.Unknown[time.Duration]()
	for name, test := range map[string]struct {
		job            jobspec.Job
		known, unknown []string
	}{
		"the name": {
			with(func(j *jobspec.Job) { j.Name = jobspec.Unknown[string]() }),
			[]string{"policy", "audience", "lease", "retention", "store"}, nil,
		},
		"the address": {
			withHTTP(func(t *jobspec.HTTPTarget) { t.URI = jobspec.Unknown[string]() }),
			[]string{"policy", "lease", "min_backoff_duration"}, []string{"audience"},
		},
		"the address, with an audience": {
			withHTTP(func(t *jobspec.HTTPTarget) {
				t.URI = jobspec.Unknown[string]()
				t.OIDCToken = jobspec.Known(jobspec.OIDCToken{Audience: text("reports")})
			}),
			[]string{"audience"}, nil,
		},
		"the address, with a contract": {
			with(func(j *jobspec.Job) {
				j.Deduplication.Contract = text(jobspec.Contract{Audience: "reports", Store: "sqlite:a.db"}.Encode())
				onHTTP(j, func(t *jobspec.HTTPTarget) { t.URI = jobspec.Unknown[string]() })
			}),
			[]string{"audience", "store"}, nil,
		},
		"the project": {
			with(func(j *jobspec.Job) { j.Project = jobspec.Unknown[string]() }),
			[]string{"policy", "X-Idempotent-Policy", "X-Idempotent-Region"}, []string{"store", "X-Idempotent-Project"},
		},
		"the project, with a store": {
			with(func(j *jobspec.Job) {
				j.Project, j.Deduplication.Store = jobspec.Unknown[string](), text("sqlite:a.db")
			}),
			[]string{"store"}, nil,
		},
		"the deadline": {
			with(func(j *jobspec.Job) { j.AttemptDeadline = unknownDuration }),
			[]string{"retry_count", "max_doublings", "store"},
			[]string{"lease", "blocked", "request_timeout", "min_backoff_duration", "max_backoff_duration", "horizon", "retention", "policy", "timetable"},
		},
		"the deadline, with a lease": {
			with(func(j *jobspec.Job) { j.AttemptDeadline, j.Deduplication.Lease = unknownDuration, dur(time.Hour) }),
			[]string{"blocked"}, []string{"min_backoff_duration", "policy"},
		},
		"the deadline, with a renewed lease": {
			with(func(j *jobspec.Job) {
				j.AttemptDeadline, j.Deduplication.RenewLease, j.Deduplication.RequestTimeout = unknownDuration, yes(), dur(time.Minute)
			}),
			[]string{"lease", "blocked"}, []string{"min_backoff_duration", "horizon"},
		},
		"the mode": {
			withDedup(func(d *jobspec.Deduplication) { d.Mode = jobspec.Unknown[string]() }),
			[]string{"lease"}, []string{"retry_count", "min_backoff_duration", "audience", "policy"},
		},
		"a given retention, with an unknown deadline": {
			with(func(j *jobspec.Job) { j.AttemptDeadline, j.Deduplication.Retention = unknownDuration, dur(time.Hour) }),
			[]string{"retention"}, []string{"horizon"},
		},
		"min": {
			withRetry(jobspec.Retry{MinBackoff: unknownDuration}), []string{"retry_count"}, []string{"max_backoff_duration", "horizon"},
		},
		"max": {
			withRetry(jobspec.Retry{MaxBackoff: unknownDuration}), []string{"retry_count"}, []string{"min_backoff_duration", "horizon"},
		},
	} {
		got := values(jobspec.Derive(test.job))
		for _, value := range test.known {
			if _, ok := got[value]; !ok {
				t.Errorf("%s: %s is not known", name, value)
			}
		}
		for _, value := range test.unknown {
			if known, ok := got[value]; ok {
				t.Errorf("%s: %s is known: %s", name, value, known)
			}
		}
	}
}

func TestRulesWaitForWhatTheyNeed(t *testing.T) {
	t.Parallel()
	j := withRetry(jobspec.Retry{MinBackoff: jobspec.Unknown[time.Duration]()})
	report := jobspec.Evaluate(j)
	for _, id := range []jobspec.RuleID{"retry-ends-before-lease", "last-retry-before-lease", "recovery-after-next-run"} {
		if !slices.Contains(report.Waiting, id) {
			t.Errorf("%s does not wait for min_backoff_duration: %v", id, report.Waiting)
		}
	}
	if len(report.Findings) > 0 || slices.Contains(report.Waiting, "lease-too-short") {
		t.Errorf("%+v", report)
	}
}
