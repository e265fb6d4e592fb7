package jobspec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func TestADefaultJobIsDerivedWhole(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"mode": "enforce", "attempt_deadline": "3m0s", "audience": "https://report-abc.a.run.app", "blocked": "3m30s", "horizon": "25m45s",
		"retry_count": "5", "max_retry_duration": "0s", "min_backoff_duration": "15s", "max_backoff_duration": "1h0m0s", "max_doublings": "5",
		"store": "firestore://acme-prod/(default)/scheduler_runs", "manage_ttl": "true", "request_timeout": "3m0s", "lease": "3m30s",
		"renew_lease": "false", "retention": "24h0m0s", "forced_runs": "separate", "run_scope": "", "run_id_format": "v1",
		"max_attempts": "0", "at_most_once": "false", "wait": "false",
		"X-Idempotent-Project": "acme-prod", "X-Idempotent-Region": "europe-west1",
		"X-Idempotent-Policy": "v=1;deadline=180s;lease=210s;retention=86400s;horizon=1545s;schedule=0 3 * * *",
	}
	got := values(jobspec.Derive(nightly()))
	delete(got, "policy")
	delete(got, "timetable")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestThePolicyHeaderIsReadBackAsDerived(t *testing.T) {
	t.Parallel()
	j := withDedup(func(d *jobspec.Deduplication) {
		d.RequestTimeout, d.RenewLease, d.Lease, d.ForcedRuns = dur(time.Hour), yes(), dur(90*time.Second), text("reject")
		d.RunScope, d.MaxAttempts, d.Wait = text("eu"), num(3), yes()
	})
	j.TimeZone = text("Europe/Berlin")
	d := jobspec.Derive(j)
	header := d.Headers["X-Idempotent-Policy"].OrZero()
	got, err := run.ParsePolicy(header)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Policy.OrZero(), got); diff != "" {
		t.Errorf("-derived +read:\n%s", diff)
	}
	for _, part := range []string{"timeout=3600s", "lease=90s", "renew=true", "forced=reject", "scope=eu", "max_attempts=3", "wait=true", "tz=Europe/Berlin"} {
		if !strings.Contains(header, ";"+part) {
			t.Errorf("%s is not in %s", part, header)
		}
	}
}

func TestThePolicyLeavesDefaultsOut(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]jobspec.Job{
		"nothing set": nightly(),
		"all set to their defaults": withDedup(func(d *jobspec.Deduplication) {
			d.RequestTimeout, d.RenewLease, d.ForcedRuns, d.RunIDFormat = dur(3*time.Minute), jobspec.Known(false), text("separate"), text("v1")
			d.MaxAttempts, d.AtMostOnce, d.Wait, d.RunScope = num(0), jobspec.Known(false), jobspec.Known(false), jobspec.Unset[string]()
		}),
		"utc": with(func(j *jobspec.Job) { j.TimeZone = text("utc") }),
	} {
		const want = "v=1;deadline=180s;lease=210s;retention=86400s;horizon=1545s;schedule=0 3 * * *"
		if got := jobspec.Derive(j).Headers["X-Idempotent-Policy"].OrZero(); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	sample := withDedup(func(d *jobspec.Deduplication) { d.RunIDFormat = text("sample") })
	d := jobspec.Derive(sample)
	if p := d.Policy.OrZero(); p.Forced != "" || p.Format != run.FormatSample || d.Deduplication.ForcedRuns.OrZero() != "skip_next" {
		t.Errorf("sample: %+v, forced runs %s", p, d.Deduplication.ForcedRuns.OrZero())
	}
	renewed := withDedup(func(d *jobspec.Deduplication) { d.RenewLease = yes() })
	if p := jobspec.Derive(renewed).Policy.OrZero(); p.Timeout != 3*time.Minute {
		t.Errorf("with a renewed lease the proof rests on the request timeout, which the handler must be told: %+v", p)
	}
}

func TestTheAudienceIsTheTargetsOwn(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://report-abc.a.run.app/run?full=1":                          "https://report-abc.a.run.app",
		"https://Report-ABC.a.run.app":                                     "https://report-abc.a.run.app",
		"https://europe-west1-acme.cloudfunctions.net/report/daily?full=1": "https://europe-west1-acme.cloudfunctions.net/report",
		"https://jobs.example.com/run?full=1#x":                            "https://jobs.example.com/run",
		"https://jobs.example.com":                                         "https://jobs.example.com",
		"http://127.0.0.1:8080/run":                                        "http://127.0.0.1:8080/run",
		"https://notrun.app.example.com/run":                               "https://notrun.app.example.com/run",
		"https://user:hunter2@jobs.example.com/run":                        "https://jobs.example.com/run",
		"no address": "",
	} {
		d := jobspec.Derive(withHTTP(func(t *jobspec.HTTPTarget) { t.URI = text(uri) }))
		if got := d.Audience.OrZero(); got != want || d.Audience.IsSet() != (want != "") {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

func TestNoDerivedValueShowsASecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	j := with(func(j *jobspec.Job) {
		onHTTP(j, func(t *jobspec.HTTPTarget) {
			t.URI = text("https://user:" + secret + "@jobs.example.com/run?key=" + secret)
			t.BodyText = text(secret)
			t.Headers = headers(jobspec.Headers{"X-Key": text(secret)})
			t.HeadersWO = headers(jobspec.Headers{"X-Other-Key": text(secret)})
		})
	})
	for _, store := range []string{
		"postgres://app:" + secret + "@db/runs", "postgres://db/runs?password=" + secret, "redis://:" + secret + "@cache:6379",
		"postgres://app:" + secret + "%zz@db/runs",
	} {
		for _, mode := range []string{jobspec.ModeEnforce, jobspec.ModeObserve} {
			j.Deduplication = jobspec.Deduplication{Set: true, Mode: text(mode), Store: text(store)}
			d := jobspec.Derive(j)
			if shown := fmt.Sprint(values(d)); strings.Contains(shown, secret) {
				t.Errorf("%s, %s: %s", mode, store, shown)
			}
			for _, f := range jobspec.Check(j) {
				if strings.Contains(f.Summary+f.Message(), secret) {
					t.Errorf("%s, %s: %s shows it", mode, store, f.Rule)
				}
			}
		}
	}
}

func TestTheTimetableShowsWhichRetryFindsTheLeaseOver(t *testing.T) {
	t.Parallel()
	const s = time.Second
	want := []jobspec.Attempt{
		{1, 0, 0, 210 * s, false},
		{2, 15 * s, 195 * s, 225 * s, false},
		{3, 45 * s, 405 * s, 255 * s, false},
		{4, 105 * s, 645 * s, 315 * s, false},
		{5, 225 * s, 945 * s, 435 * s, true},
		{6, 465 * s, 1365 * s, 675 * s, true},
	}
	if diff := cmp.Diff(want, jobspec.Derive(nightly()).Timetable()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	long := withRetry(jobspec.Retry{MaxDuration: dur(1000 * time.Hour), MaxBackoff: dur(time.Second)})
	if n := len(jobspec.Derive(long).Timetable()); n != 50 {
		t.Errorf("%d attempts are listed", n)
	}
}

func TestAContractIsReadBackAsWritten(t *testing.T) {
	t.Parallel()
	want := jobspec.Contract{
		Handler: "reports", Kind: "http", Jobs: []string{"nightly", "weekly"}, Store: "sqlite:a.db", RequestTimeout: 90 * time.Second,
		Audience: "idempotent-reports", Callers: []string{"a@p.iam.gserviceaccount.com"},
	}
	got, err := jobspec.ParseContract(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	shuffled := want
	shuffled.Jobs = []string{"weekly", "nightly"}
	if shuffled.Encode() != want.Encode() {
		t.Error("the order of jobs changes the contract")
	}
}

func TestAContractOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "not the contract of an idempotent_handler: EOF",
		"{}":                               "version 0 of the contract is not known: this provider reads version 1",
		`{"v":1,"color":"red"}`:            `not the contract of an idempotent_handler: json: unknown field "color"`,
		`{"v":1} {"v":1}`:                  "not the contract of an idempotent_handler: text follows it",
		`{"v":1,"request_timeout":"soon"}`: `request_timeout "soon" of the contract is not a positive duration`,
		`{"v":1,"request_timeout":"-1s"}`:  `request_timeout "-1s" of the contract is not a positive duration`,
	} {
		if _, err := jobspec.ParseContract(in); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", in, err, want)
		}
	}
}
