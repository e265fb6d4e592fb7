package jobspec_test

import (
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

func leaseCases() []ruleCase {
	lease := func(d time.Duration, renew bool) jobspec.Job {
		return withDedup(func(d2 *jobspec.Deduplication) { d2.Lease, d2.RenewLease = dur(d), jobspec.Known(renew) })
	}
	timeout := func(d time.Duration) jobspec.Job {
		return withDedup(func(d2 *jobspec.Deduplication) { d2.RequestTimeout = dur(d) })
	}
	retention := func(d time.Duration) jobspec.Job {
		return withDedup(func(d2 *jobspec.Deduplication) { d2.Retention = dur(d) })
	}
	return []ruleCase{
		{"request-timeout-invalid", "", timeout(0), timeout(time.Second)},
		{"lease-too-short", "", lease(189*time.Second, false), lease(190*time.Second, false)},
		{"lease-too-short", "renewed", lease(14*time.Second, true), lease(15*time.Second, true)},
		{"retention-too-short", "", retention(time.Hour), retention(2 * time.Hour)},
		{"deadline-before-request-timeout", "", timeout(181 * time.Second), timeout(180 * time.Second)},
		{"deadline-before-request-timeout", "an hour", timeout(time.Hour), timeout(time.Minute)},
	}
}

func retryCases() []ruleCase {
	const s = time.Second
	every := func(schedule string, change func(*jobspec.Job)) jobspec.Job {
		return with(func(j *jobspec.Job) { j.Schedule = text(schedule); change(j) })
	}
	nothing := func(*jobspec.Job) {}
	outlived := func(j jobspec.Job) jobspec.Job { j.Deduplication.AtMostOnce = yes(); return j }
	renewed := func(r jobspec.Retry) jobspec.Job {
		j := withRetry(r)
		j.Deduplication = jobspec.Deduplication{Set: true, RenewLease: yes()}
		return j
	}
	google := jobspec.Retry{Count: num(5), MinBackoff: dur(5 * s)}
	return []ruleCase{
		{"retry-out-of-range", "count", withRetry(jobspec.Retry{Count: num(6)}), withRetry(jobspec.Retry{Count: num(5)})},
		{"retry-out-of-range", "doublings", withRetry(jobspec.Retry{MaxDoublings: num(-1)}), withRetry(jobspec.Retry{MaxDoublings: num(0)})},
		{"retry-out-of-range", "limit", withRetry(jobspec.Retry{MaxDuration: dur(-s)}), withRetry(jobspec.Retry{MaxDuration: dur(0)})},
		{"retry-out-of-range", "min", withRetry(jobspec.Retry{MinBackoff: dur(0)}), withRetry(jobspec.Retry{MinBackoff: dur(60 * s)})},
		{"retry-out-of-range", "max", withRetry(jobspec.Retry{MaxBackoff: dur(0)}), withRetry(jobspec.Retry{MaxBackoff: dur(s)})},
		{
			"retry-contradiction", "", withRetry(jobspec.Retry{MinBackoff: dur(400 * s), MaxBackoff: dur(399 * s)}),
			withRetry(jobspec.Retry{MinBackoff: dur(400 * s), MaxBackoff: dur(400 * s)}),
		},
		{"retry-ends-before-lease", "five of Google's retries", withRetry(google), withRetry(jobspec.Retry{Count: num(5), MinBackoff: dur(8 * s)})},
		{
			"retry-ends-before-lease", "fewer retries", withRetry(jobspec.Retry{Count: num(3), MinBackoff: dur(15 * s)}),
			withRetry(jobspec.Retry{Count: num(4), MinBackoff: dur(15 * s)}),
		},
		{
			"retry-ends-before-lease", "max binds", withRetry(jobspec.Retry{Count: num(5), MinBackoff: dur(15 * s), MaxBackoff: dur(40 * s)}),
			withRetry(jobspec.Retry{Count: num(5), MinBackoff: dur(15 * s), MaxBackoff: dur(58500 * time.Millisecond)}),
		},
		{
			"retry-ends-before-lease", "min and max bind", withRetry(jobspec.Retry{Count: num(2), MinBackoff: dur(15 * s), MaxBackoff: dur(40 * s)}),
			withRetry(jobspec.Retry{Count: num(2), MinBackoff: dur(74 * s), MaxBackoff: dur(146 * s)}),
		},
		{
			"retry-ends-before-lease", "time only", withRetry(jobspec.Retry{Count: num(0), MaxDuration: dur(399 * s)}),
			withRetry(jobspec.Retry{Count: num(0), MaxDuration: dur(400 * s)}),
		},
		{"retry-ends-before-lease", "renewed", renewed(google), renewed(jobspec.Retry{Count: num(5), MinBackoff: dur(9 * s)})},
		{
			"last-retry-before-lease", "", withRetry(jobspec.Retry{Count: num(5), MinBackoff: dur(8 * s)}),
			withRetry(jobspec.Retry{Count: num(5), MinBackoff: dur(14 * s)}),
		},
		{"last-retry-before-lease", "max binds", withRetry(jobspec.Retry{MaxBackoff: dur(60 * s)}), withRetry(jobspec.Retry{MaxBackoff: dur(220 * s)})},
		{"no-retry", "", withRetry(jobspec.Retry{Count: num(0)}), outlived(withRetry(jobspec.Retry{Count: num(0)}))},
		{
			"recovery-after-next-run", "every minute", every("* * * * *", nothing), every("* * * * *", func(j *jobspec.Job) {
				j.AttemptDeadline = dur(40 * s)
				j.Deduplication = jobspec.Deduplication{Set: true, Lease: dur(50 * s)}
				j.Retry = jobspec.Retry{Set: true, MinBackoff: dur(60 * s)}
			}),
		},
		{
			"recovery-after-next-run", "every four minutes", every("*/4 * * * *", func(j *jobspec.Job) {
				j.Retry = jobspec.Retry{Set: true, MinBackoff: dur(100 * s)}
			}), every("*/4 * * * *", func(j *jobspec.Job) { j.Retry = jobspec.Retry{Set: true, MinBackoff: dur(220 * s)} }),
		},
		{
			"recovery-after-next-run", "renewed", every("* * * * *", func(j *jobspec.Job) {
				j.Deduplication = jobspec.Deduplication{Set: true, RenewLease: yes()}
			}), every("* * * * *", func(j *jobspec.Job) {
				j.Deduplication = jobspec.Deduplication{Set: true, RenewLease: yes(), RequestTimeout: dur(35 * s), Lease: dur(15 * s)}
				j.Retry = jobspec.Retry{Set: true, MinBackoff: dur(60 * s)}
			}),
		},
	}
}

func dedupCases() []ruleCase {
	dedup := withDedup
	previous := func(p jobspec.Previous) jobspec.Job {
		return dedup(func(d *jobspec.Deduplication) { d.Previous = jobspec.Known(p) })
	}
	until := text("2027-01-31T00:00:00Z")
	contract := jobspec.Contract{
		Handler: "reports", Kind: "http", Jobs: []string{"nightly"}, Store: "firestore://acme-prod/(default)/runs",
		RequestTimeout: 3 * time.Minute, Audience: "idempotent-reports", Callers: []string{"caller@acme-prod.iam.gserviceaccount.com"},
	}
	kept := func(change func(*jobspec.Job)) jobspec.Job {
		return with(func(j *jobspec.Job) {
			j.Deduplication = jobspec.Deduplication{Set: true, Contract: text(contract.Encode())}
			change(j)
		})
	}
	calledBy := func(callers ...string) jobspec.Job {
		return with(func(j *jobspec.Job) {
			j.Deduplication = jobspec.Deduplication{Set: true, Contract: text(jobspec.Contract{Handler: "reports", Kind: "http", Callers: callers}.Encode())}
		})
	}
	return []ruleCase{
		{
			"mode-invalid", "", dedup(func(d *jobspec.Deduplication) { d.Mode = text("report") }),
			dedup(func(d *jobspec.Deduplication) { d.Mode = text("observe") }),
		},
		{
			"forced-runs-invalid", "", dedup(func(d *jobspec.Deduplication) { d.ForcedRuns = text("skip") }),
			dedup(func(d *jobspec.Deduplication) { d.ForcedRuns = text("skip_next") }),
		},
		{
			"run-id-format-invalid", "", dedup(func(d *jobspec.Deduplication) { d.RunIDFormat = text("v2") }),
			dedup(func(d *jobspec.Deduplication) { d.RunIDFormat = text("v1") }),
		},
		{
			"run-scope-invalid", "", dedup(func(d *jobspec.Deduplication) { d.RunScope = text("eu pair") }),
			dedup(func(d *jobspec.Deduplication) { d.RunScope = text("eu_pair") }),
		},
		{
			"sample-format-conflict", "forced runs",
			dedup(func(d *jobspec.Deduplication) { d.RunIDFormat, d.ForcedRuns = text("sample"), text("separate") }),
			dedup(func(d *jobspec.Deduplication) { d.RunIDFormat, d.ForcedRuns = text("sample"), text("skip_next") }),
		},
		{
			"sample-format-conflict", "scope", dedup(func(d *jobspec.Deduplication) { d.RunIDFormat, d.RunScope = text("sample"), text("eu") }),
			dedup(func(d *jobspec.Deduplication) { d.RunIDFormat, d.RunScope = text("v1"), text("eu") }),
		},
		{
			"max-attempts-invalid", "", dedup(func(d *jobspec.Deduplication) { d.MaxAttempts = num(-1) }),
			dedup(func(d *jobspec.Deduplication) { d.MaxAttempts = num(0) }),
		},
		{
			"single-attempt", "", dedup(func(d *jobspec.Deduplication) { d.MaxAttempts = num(1) }),
			dedup(func(d *jobspec.Deduplication) { d.MaxAttempts, d.AtMostOnce = num(1), yes() }),
		},
		{"previous-invalid", "missing time", previous(jobspec.Previous{}), previous(jobspec.Previous{Until: until})},
		{"previous-invalid", "time", previous(jobspec.Previous{Until: text("2027-01-31")}), previous(jobspec.Previous{Until: until})},
		{
			"previous-invalid", "store", previous(jobspec.Previous{Until: until, Store: text("firestore:runs")}),
			previous(jobspec.Previous{Until: until, Store: text("sqlite:runs.db")}),
		},
		{
			"previous-invalid", "format", previous(jobspec.Previous{Until: until, RunIDFormat: text("v0")}),
			previous(jobspec.Previous{Until: until, RunIDFormat: text("sample")}),
		},
		{
			"previous-invalid", "scope", previous(jobspec.Previous{Until: until, RunScope: text("")}),
			previous(jobspec.Previous{Until: until, RunScope: text("eu")}),
		},
		{
			"previous-invalid", "forced runs", previous(jobspec.Previous{Until: until, ForcedRuns: text("never")}),
			previous(jobspec.Previous{Until: until, ForcedRuns: text("reject")}),
		},
		{
			"contract-invalid", "", dedup(func(d *jobspec.Deduplication) { d.Contract = text("reports") }),
			dedup(func(d *jobspec.Deduplication) { d.Contract = text(contract.Encode()) }),
		},
		{
			"contract-invalid", "version", dedup(func(d *jobspec.Deduplication) { d.Contract = text(`{"v":2,"handler":"reports"}`) }),
			dedup(func(d *jobspec.Deduplication) { d.Contract = text(`{"v":1,"handler":"reports"}`) }),
		},
		{"contract-mismatch", "job", kept(func(j *jobspec.Job) { j.Name = text("weekly") }), kept(func(*jobspec.Job) {})},
		{
			"contract-mismatch", "store", kept(func(j *jobspec.Job) { j.Deduplication.Store = text("sqlite:runs.db") }),
			kept(func(j *jobspec.Job) { j.Deduplication.Store = text(contract.Store) }),
		},
		{
			"contract-mismatch", "timeout", kept(func(j *jobspec.Job) { j.Deduplication.RequestTimeout = dur(181 * time.Second) }),
			kept(func(j *jobspec.Job) { j.Deduplication.RequestTimeout = dur(180 * time.Second) }),
		},
		{"contract-mismatch", "audience", kept(func(j *jobspec.Job) {
			onHTTP(j, func(t *jobspec.HTTPTarget) {
				t.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text(contract.Callers[0]), Audience: text("another")})
			})
		}), kept(func(j *jobspec.Job) {
			onHTTP(j, func(t *jobspec.HTTPTarget) {
				t.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text(contract.Callers[0]), Audience: text(contract.Audience)})
			})
		})},
		{"contract-mismatch", "caller", kept(func(j *jobspec.Job) {
			onHTTP(j, func(t *jobspec.HTTPTarget) {
				t.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: text("other@acme-prod.iam.gserviceaccount.com")})
			})
		}), kept(func(*jobspec.Job) {})},
		{
			"contract-mismatch", "any account of another project", calledBy("*@acme-test.iam.gserviceaccount.com"),
			calledBy("*@acme-prod.iam.gserviceaccount.com"),
		},
		{
			"contract-mismatch", "only the end of a project's name", calledBy("*@prod.iam.gserviceaccount.com"),
			calledBy("other@acme-prod.iam.gserviceaccount.com", "CALLER@acme-prod.iam.gserviceaccount.com"),
		},
	}
}

func storeCases() []ruleCase {
	store := func(s string) jobspec.Job { return withDedup(func(d *jobspec.Deduplication) { d.Store = text(s) }) }
	once := func(s string) jobspec.Job {
		return withDedup(func(d *jobspec.Deduplication) { d.Store, d.AtMostOnce = text(s), yes() })
	}
	local := func(host string) jobspec.Job {
		return with(func(j *jobspec.Job) {
			j.Deduplication = jobspec.Deduplication{Set: true, Store: text("sqlite:///var/lib/runs.db")}
			onHTTP(j, func(t *jobspec.HTTPTarget) { t.URI = text("http://" + host + ":8080/run") })
		})
	}
	earlier := func(s string) jobspec.Job {
		return withDedup(func(d *jobspec.Deduplication) {
			d.Previous = jobspec.Known(jobspec.Previous{Until: text("2027-01-31T00:00:00Z"), Store: text(s)})
		})
	}
	return []ruleCase{
		{"store-invalid", "scheme", store("mysql://db/runs"), store("postgres://db/runs")},
		{"store-invalid", "shape", store("firestore://acme-prod/runs"), store("firestore://example.com:proj/(default)/runs")},
		{"store-invalid", "memory", store("memory:"), store("rediss://cache:6379")},
		{"store-invalid", "spanner", store("spanner://projects/p"), store("spanner://projects/p/instances/i1/databases/d")},
		{"store-password", "user part", store("postgres://app:hunter2@db/runs"), store("postgres://app@db/runs")},
		{"store-password", "parameter", store("postgres://db/runs?password=hunter2"), store("postgres://db/runs?sslmode=require")},
		{"store-password", "unreadable", store("postgres://app:hun%ter2@db/runs"), store("postgres://db/runs")},
		{"store-password", "previous", earlier("redis://:hunter2@cache:6379"), earlier("redis://cache:6379")},
		{"at-most-once-on-redis", "", once("redis://cache:6379"), once("postgres://db/runs")},
		{"sqlite-not-local", "", local("report.example.com"), local("[::1]")},
	}
}

func riskCases() []ruleCase {
	open := withHTTP(func(t *jobspec.HTTPTarget) { t.OIDCToken = jobspec.Unset[jobspec.OIDCToken]() })
	accepted := accepting(open, map[string]string{"no-authentication": "the service is internal"})
	return []ruleCase{
		{"accepted-risk-unknown", "", accepting(nightly(), map[string]string{"no-auth": "internal"}), accepted},
		{
			"accepted-risk-not-acceptable", "", accepting(nightly(), map[string]string{"schedule-groc": "it has always been so"}),
			accepted,
		},
		{"accepted-risk-not-acceptable", "of check", accepting(nightly(), map[string]string{"target-open": "it verifies tokens"}), accepted},
		{"accepted-risk-without-reason", "", accepting(open, map[string]string{"no-authentication": " "}), accepted},
		{"accepted-risk-unused", "", accepting(nightly(), map[string]string{"no-authentication": "internal"}), accepted},
	}
}
