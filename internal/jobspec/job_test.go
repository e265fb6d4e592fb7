package jobspec_test

import (
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// text, dur and num are known values.
func text(s string) jobspec.Value[string]                      { return jobspec.Known(s) }
func dur(d time.Duration) jobspec.Value[time.Duration]         { return jobspec.Known(d) }
func num(n int) jobspec.Value[int]                             { return jobspec.Known(n) }
func yes() jobspec.Value[bool]                                 { return jobspec.Known(true) }
func headers(h jobspec.Headers) jobspec.Value[jobspec.Headers] { return jobspec.Known(h) }

// nightly is a job that every rule lets pass: an HTTP target on Cloud Run with a token, everything else left out.
func nightly() jobspec.Job {
	return jobspec.Job{
		Name:     text("nightly"),
		Project:  text("acme-prod"),
		Region:   text("europe-west1"),
		Schedule: text("0 3 * * *"),
		HTTP: jobspec.Known(jobspec.HTTPTarget{
			URI:       text("https://report-abc.a.run.app/run"),
			OIDCToken: jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text("caller@acme-prod.iam.gserviceaccount.com")}),
		}),
		Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
	}
}

// appEngine is nightly with an App Engine target and a deadline.
func appEngine() jobspec.Job {
	j := nightly()
	j.HTTP = jobspec.Unset[jobspec.HTTPTarget]()
	j.AppEngine = jobspec.Known(jobspec.AppEngineTarget{RelativeURI: text("/run")})
	j.AttemptDeadline = dur(10 * time.Minute)
	return j
}

// topic is nightly with a Pub/Sub target.
func topic() jobspec.Job {
	j := nightly()
	j.HTTP = jobspec.Unset[jobspec.HTTPTarget]()
	j.PubSub = jobspec.Known(jobspec.PubSubTarget{Topic: text("projects/acme-prod/topics/nightly")})
	return j
}

// with changes nightly.
func with(change func(*jobspec.Job)) jobspec.Job {
	j := nightly()
	change(&j)
	return j
}

// withHTTP changes nightly's target.
func withHTTP(change func(*jobspec.HTTPTarget)) jobspec.Job {
	return with(func(j *jobspec.Job) { onHTTP(j, change) })
}

func onHTTP(j *jobspec.Job, change func(*jobspec.HTTPTarget)) {
	t := j.HTTP.OrZero()
	change(&t)
	j.HTTP = jobspec.Known(t)
}

// withToken changes the OIDC token of nightly's target.
func withToken(change func(*jobspec.OIDCToken)) jobspec.Job {
	return withHTTP(func(t *jobspec.HTTPTarget) {
		token := t.OIDCToken.OrZero()
		change(&token)
		t.OIDCToken = jobspec.Known(token)
	})
}

// withApp changes the target of appEngine.
func withApp(change func(*jobspec.AppEngineTarget)) jobspec.Job {
	j := appEngine()
	t := j.AppEngine.OrZero()
	change(&t)
	j.AppEngine = jobspec.Known(t)
	return j
}

// withDedup changes nightly's deduplication.
func withDedup(change func(*jobspec.Deduplication)) jobspec.Job {
	return with(func(j *jobspec.Job) { j.Deduplication.Set = true; change(&j.Deduplication) })
}

// withRetry gives nightly a retry_config.
func withRetry(r jobspec.Retry) jobspec.Job {
	return with(func(j *jobspec.Job) { r.Set = true; j.Retry = r })
}

// accepting adds accepted risks to a job.
func accepting(j jobspec.Job, risks map[string]string) jobspec.Job {
	accepted := map[string]jobspec.Value[string]{}
	for id, reason := range risks {
		accepted[id] = text(reason)
	}
	j.AcceptedRisks = jobspec.Known(accepted)
	return j
}

// of are the findings of one rule.
func of(findings []jobspec.Finding, id jobspec.RuleID) []jobspec.Finding {
	var found []jobspec.Finding
	for _, f := range findings {
		if f.Rule == id {
			found = append(found, f)
		}
	}
	return found
}
