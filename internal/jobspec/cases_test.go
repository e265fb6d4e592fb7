package jobspec_test

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// ruleCase is one job that a rule refuses and one, as near as can be, that it lets pass.
type ruleCase struct {
	rule jobspec.RuleID
	name string // tells the cases of a rule apart
	fire jobspec.Job
	pass jobspec.Job
}

func base64of(s string) jobspec.Value[string] {
	return text(base64.StdEncoding.EncodeToString([]byte(s)))
}

// cases lists at least one case for every rule.
func cases() []ruleCase {
	var all []ruleCase
	for _, group := range [][]ruleCase{
		identityCases(), scheduleCases(), targetCases(), headerCases(), tokenCases(), leaseCases(), retryCases(), dedupCases(),
		storeCases(), riskCases(),
	} {
		all = append(all, group...)
	}
	return all
}

func identityCases() []ruleCase {
	name := func(v jobspec.Value[string]) jobspec.Job { return with(func(j *jobspec.Job) { j.Name = v }) }
	project := func(s string) jobspec.Job {
		return with(func(j *jobspec.Job) {
			j.Project = text(s)
			onHTTP(j, func(t *jobspec.HTTPTarget) {
				t.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text("caller@proj.example.com.iam.gserviceaccount.com")})
			})
		})
	}
	region := func(s string) jobspec.Job { return with(func(j *jobspec.Job) { j.Region = text(s) }) }
	description := func(n int) jobspec.Job {
		return with(func(j *jobspec.Job) { j.Description = text(strings.Repeat("ü", n)) })
	}
	return []ruleCase{
		{"name-invalid", "dot", name(text("nightly.report")), name(text("Nightly_report-2"))},
		{"name-invalid", "missing", name(jobspec.Unset[string]()), name(text(strings.Repeat("n", 500)))},
		{"project-invalid", "", project("acme/prod"), project("example.com:proj")},
		{"region-invalid", "", region("Europe-West1"), region("europe-west1")},
		{"description-too-long", "", description(501), description(500)},
	}
}

func scheduleCases() []ruleCase {
	schedule := func(s string) jobspec.Job { return with(func(j *jobspec.Job) { j.Schedule = text(s) }) }
	berlin := func(s string) jobspec.Job {
		return with(func(j *jobspec.Job) { j.Schedule, j.TimeZone = text(s), text("Europe/Berlin") })
	}
	zone := func(s string) jobspec.Job { return with(func(j *jobspec.Job) { j.TimeZone = text(s) }) }
	return []ruleCase{
		{"schedule-invalid", "minute", schedule("60 3 * * *"), schedule("59 3 * * *")},
		{"schedule-invalid", "macro", schedule("@daily"), schedule("0 0 * * *")},
		{"schedule-invalid", "missing", with(func(j *jobspec.Job) { j.Schedule = jobspec.Unset[string]() }), nightly()},
		{"schedule-groc", "equivalent", schedule("every 5 minutes"), schedule("*/5 * * * *")},
		{"schedule-groc", "no equivalent", schedule("every 7 minutes"), schedule("*/7 * * * *")},
		{"schedule-never-fires", "", schedule("0 0 30 2 *"), schedule("0 0 29 2 *")},
		{"time-zone-unknown", "", zone("Europe/Berln"), zone("Europe/Berlin")},
		{"schedule-both-days", "", schedule("0 3 1 * 1"), schedule("0 3 1 * *")},
		{"schedule-clock-change", "skipped", berlin("30 2 * 3-9 *"), berlin("30 3 * 3-9 *")},
		{"schedule-clock-change", "both", berlin("30 2 * * *"), berlin("30 * * * *")},
	}
}

func targetCases() []ruleCase {
	uri := func(s string) jobspec.Job { return withHTTP(func(t *jobspec.HTTPTarget) { t.URI = text(s) }) }
	relative := func(s string) jobspec.Job {
		return withApp(func(t *jobspec.AppEngineTarget) { t.RelativeURI = text(s) })
	}
	method := func(m, body string) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) { t.Method, t.BodyText = text(m), text(body) })
	}
	appMethod := func(m, body string) jobspec.Job {
		return withApp(func(t *jobspec.AppEngineTarget) { t.Method, t.Body = text(m), base64of(body) })
	}
	body := func(s string) jobspec.Job { return withHTTP(func(t *jobspec.HTTPTarget) { t.Body = text(s) }) }
	deadline := func(j jobspec.Job, d time.Duration) jobspec.Job { j.AttemptDeadline = dur(d); return j }
	renewed := func(j jobspec.Job) jobspec.Job {
		j.Deduplication = jobspec.Deduplication{Set: true, RenewLease: yes(), RequestTimeout: dur(10 * time.Minute)}
		return j
	}
	both := appEngine()
	both.HTTP = nightly().HTTP
	return []ruleCase{
		{"target-count", "none", with(func(j *jobspec.Job) { j.HTTP = jobspec.Unset[jobspec.HTTPTarget]() }), nightly()},
		{"target-count", "two", both, appEngine()},
		{"pubsub-target", "", topic(), nightly()},
		{"uri-invalid", "scheme", uri("ftp://report.example.com"), uri("HTTPS://report.example.com")},
		{"uri-invalid", "missing", withHTTP(func(t *jobspec.HTTPTarget) { t.URI = jobspec.Unset[string]() }), nightly()},
		{"uri-invalid", "space", uri("https://report.example.com/a b"), uri("https://report.example.com/a%20b")},
		{"uri-invalid", "password", uri("https://user:hunter2@report.example.com/"), uri("https://report.example.com/")},
		{"uri-invalid", "length", uri("https://h.example.com/" + strings.Repeat("a", 2062)), uri("https://h.example.com/" + strings.Repeat("a", 2061))},
		{"uri-invalid", "relative", relative("run?token=hunter2"), relative("/run?mode=full")},
		{"http-method-invalid", "lower case", method("post", ""), method("POST", "")},
		{"http-method-invalid", "app engine", appMethod("PATCH", ""), appMethod("PUT", "")},
		{"body-invalid", "not base64", body("{}"), body("e30=")},
		{
			"body-invalid", "twice", withHTTP(func(t *jobspec.HTTPTarget) { t.Body, t.BodyText = text("YQ=="), text("a") }),
			withHTTP(func(t *jobspec.HTTPTarget) { t.BodyText = text("a") }),
		},
		{"body-with-method", "http", method("GET", "a"), method("PATCH", "a")},
		{"body-with-method", "app engine", appMethod("DELETE", "a"), appMethod("PUT", "a")},
		{"job-too-large", "", method("POST", strings.Repeat("a", 1<<20)), method("POST", strings.Repeat("a", 1<<20-1<<10))},
		{
			"google-api-target", "workflow", uri("https://workflowexecutions.googleapis.com/v1/projects/p/locations/l/workflows/w/executions"),
			uri("https://workflowexecutions.googleapis.com.example.com/v1"),
		},
		{"google-api-target", "run job", uri("https://europe-west1-run.googleapis.com/apis/run"), uri("https://googleapis.example.com")},
		{"google-api-target", "other", uri("https://batch.googleapis.com/v1/projects"), uri("https://report.example.com")},
		{"attempt-deadline-out-of-range", "short", deadline(nightly(), 14*time.Second), deadline(nightly(), 15*time.Second)},
		{"attempt-deadline-out-of-range", "long", deadline(nightly(), 31*time.Minute), deadline(nightly(), 30*time.Minute)},
		{
			"attempt-deadline-out-of-range", "app engine", deadline(appEngine(), 24*time.Hour+16*time.Second),
			deadline(appEngine(), 24*time.Hour+15*time.Second),
		},
		{"app-engine-deadline-missing", "", deadline(appEngine(), 0), renewed(deadline(appEngine(), 0))},
	}
}

func headerCases() []ruleCase {
	header := func(name, value string) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) { t.Headers = headers(jobspec.Headers{name: text(value)}) })
	}
	two := func(shown, hidden string) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) {
			t.Headers = headers(jobspec.Headers{shown: text("a")})
			t.HeadersWO = headers(jobspec.Headers{hidden: text("b")})
		})
	}
	body := func(contentType jobspec.Value[jobspec.Headers]) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) { t.Body, t.Headers = base64of(`{"a": 1}`), contentType })
	}
	return []ruleCase{
		{"header-invalid", "name", header("X Mode", "full"), header("X-Mode", "full")},
		{"header-invalid", "value", header("X-Mode", "full\r\nX-Other: 1"), header("X-Mode", "full\tor not")},
		{"header-reserved", "scheduler", header("x-cloudscheduler-jobname", "a"), header("x-cloud-scheduler", "a")},
		{"header-reserved", "user agent", header("user-agent", "a"), withApp(func(t *jobspec.AppEngineTarget) {
			t.Headers = headers(jobspec.Headers{"User-Agent": text("a")})
		})},
		{"header-reserved", "token", header("Authorization", "x"), with(func(j *jobspec.Job) {
			onHTTP(j, func(t *jobspec.HTTPTarget) {
				t.OIDCToken = jobspec.Unset[jobspec.OIDCToken]()
				t.HeadersWO = headers(jobspec.Headers{"Authorization": text("x")})
			})
		})},
		{"header-reserved", "ours", header("x-idempotent-policy", "v=1"), header("x-idempotent-mode", "a")},
		{"header-duplicate", "", two("X-Mode", "x-mode"), two("X-Mode", "X-Mode2")},
		{"headers-too-large", "", header("X-Data", strings.Repeat("a", 80<<10)), header("X-Data", strings.Repeat("a", 79<<10))},
		{"header-secret", "name", header("X-Api-Key", "a"), two("X-Mode", "X-Api-Key")},
		{"header-secret", "value", header("X-Data", "Bearer abc"), header("X-Data", "bearing")},
		{"body-without-content-type", "", body(jobspec.Unset[jobspec.Headers]()), body(headers(jobspec.Headers{"content-type": text("application/json")}))},
	}
}

func tokenCases() []ruleCase {
	account := func(email string) jobspec.Job {
		return withToken(func(t *jobspec.OIDCToken) { t.ServiceAccountEmail = text(email) })
	}
	audience := func(a string) jobspec.Job { return withToken(func(t *jobspec.OIDCToken) { t.Audience = text(a) }) }
	oauth := func(uri string, both bool) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) {
			t.URI = text(uri)
			t.OAuthToken = jobspec.Known(jobspec.OAuthToken{ServiceAccountEmail: text("caller@acme-prod.iam.gserviceaccount.com")})
			if !both {
				t.OIDCToken = jobspec.Unset[jobspec.OIDCToken]()
			}
		})
	}
	function := func(uri, audience string) jobspec.Job {
		return withHTTP(func(t *jobspec.HTTPTarget) {
			token := t.OIDCToken.OrZero()
			token.Audience = text(audience)
			t.URI, t.OIDCToken = text(uri), jobspec.Known(token)
		})
	}
	scoped := with(func(j *jobspec.Job) {
		j.Project = text("example.com:proj")
		onHTTP(j, func(t *jobspec.HTTPTarget) {
			t.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text("caller@proj.example.com.iam.gserviceaccount.com")})
		})
	})
	scopedOther := scoped
	scopedOther.HTTP = nightly().HTTP
	observed := func(uri string) jobspec.Job {
		return with(func(j *jobspec.Job) {
			j.Deduplication.Mode = text(jobspec.ModeObserve)
			onHTTP(j, func(t *jobspec.HTTPTarget) { t.URI = text(uri) })
		})
	}
	scope := func(scope string) jobspec.Job {
		j := oauth("https://batch.googleapis.com/v1", false)
		onHTTP(&j, func(t *jobspec.HTTPTarget) {
			token := t.OAuthToken.OrZero()
			token.Scope = text(scope)
			t.OAuthToken = jobspec.Known(token)
		})
		return j
	}
	return []ruleCase{
		{"no-authentication", "", withHTTP(func(t *jobspec.HTTPTarget) { t.OIDCToken = jobspec.Unset[jobspec.OIDCToken]() }), nightly()},
		{"token-conflict", "", oauth("https://batch.googleapis.com/v1", true), oauth("https://batch.googleapis.com/v1", false)},
		{"oauth-target", "", oauth("https://report.example.com", false), oauth("https://batch.googleapis.com/v1", false)},
		{"oauth-scope-invalid", "short form", scope("cloud-platform"), scope("https://www.googleapis.com/auth/cloud-platform")},
		{
			"oauth-scope-invalid", "comma", scope("https://www.googleapis.com/auth/drive, https://mail.google.com/"),
			scope("https://www.googleapis.com/auth/drive https://mail.google.com/"),
		},
		{"oauth-scope-invalid", "blank", scope(" "), oauth("https://batch.googleapis.com/v1", false)},
		{"oauth-scope-invalid", "clear text", scope("http://www.googleapis.com/auth/drive"), scope("https://www.googleapis.com/auth/drive")},
		{"audience-query", "given", audience("https://report-abc.a.run.app/run?key=hunter2"), audience("https://report-abc.a.run.app")},
		{"audience-query", "observed", observed("https://report-abc.a.run.app/run?key=hunter2"), observed("https://report-abc.a.run.app/run")},
		{"audience-origin", "run", audience("https://other-abc.a.run.app"), audience("https://Report-abc.a.run.app/")},
		{"audience-origin", "path", audience("https://report-abc.a.run.app/run"), audience("nightly-handler")},
		{
			"audience-origin", "function", function("https://europe-west1-acme-prod.cloudfunctions.net/report/x", "https://europe-west1-acme-prod.cloudfunctions.net/"),
			function("https://europe-west1-acme-prod.cloudfunctions.net/report/x", "https://europe-west1-acme-prod.cloudfunctions.net/report"),
		},
		{"service-account-invalid", "no address", account("caller"), account("caller@acme-prod.iam.gserviceaccount.com")},
		{"service-account-invalid", "missing", withToken(func(t *jobspec.OIDCToken) { t.ServiceAccountEmail = jobspec.Unset[string]() }), nightly()},
		{"service-account-project", "", account("caller@acme-dev.iam.gserviceaccount.com"), account("123-compute@developer.gserviceaccount.com")},
		{"service-account-project", "domain", scopedOther, scoped},
		{"service-account-project", "app engine", account("acme-dev@appspot.gserviceaccount.com"), account("acme-prod@appspot.gserviceaccount.com")},
		{
			"service-account-agent", "", account("service-123@gcp-sa-cloudscheduler.iam.gserviceaccount.com"),
			account("service-x@acme-prod.iam.gserviceaccount.com"),
		},
	}
}
