package jobspec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

func open() jobspec.Job {
	return withHTTP(func(t *jobspec.HTTPTarget) { t.OIDCToken = jobspec.Unset[jobspec.OIDCToken]() })
}

// rulesOf lists severity and rule of each finding.
func rulesOf(findings []jobspec.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Severity.String()+" "+string(f.Rule))
	}
	return strings.Join(all, ", ")
}

func TestAnAcceptedRiskIsNotAFinding(t *testing.T) {
	t.Parallel()
	report := jobspec.Evaluate(accepting(open(), map[string]string{"no-authentication": "the network is closed"}))
	if len(report.Findings) > 0 || rulesOf(report.Accepted) != "error no-authentication" {
		t.Errorf("findings %s, accepted %s", rulesOf(report.Findings), rulesOf(report.Accepted))
	}
}

func TestARiskWithoutReasonIsNotAccepted(t *testing.T) {
	t.Parallel()
	got := rulesOf(jobspec.Check(accepting(open(), map[string]string{"no-authentication": "\t"})))
	if got != "error no-authentication, error accepted-risk-without-reason" {
		t.Error(got)
	}
}

func TestAReasonThatIsNotKnownYetCountsAsGiven(t *testing.T) {
	t.Parallel()
	j := open()
	j.AcceptedRisks = jobspec.Known(map[string]jobspec.Value[string]{"no-authentication": jobspec.Unknown[string]()})
	if got := jobspec.Check(j); len(got) > 0 {
		t.Error(rulesOf(got))
	}
}

func TestFindingsThatMayBeAcceptedWaitForUnknownRisks(t *testing.T) {
	t.Parallel()
	j := open()
	j.Schedule = text("every 5 minutes")
	j.AcceptedRisks = jobspec.Unknown[map[string]jobspec.Value[string]]()
	report := jobspec.Evaluate(j)
	if rulesOf(report.Findings) != "error schedule-groc" || !slices.Contains(report.Waiting, "no-authentication") {
		t.Errorf("findings %s, waiting %v", rulesOf(report.Findings), report.Waiting)
	}
}

func TestARiskThatMayYetApplyIsNotUnused(t *testing.T) {
	t.Parallel()
	j := accepting(withHTTP(func(t *jobspec.HTTPTarget) { t.URI = jobspec.Unknown[string]() }),
		map[string]string{"google-api-target": "the API is idempotent", "no-retry": "never needed"})
	got := jobspec.Check(j)
	if rulesOf(got) != "warning accepted-risk-unused" || got[0].Path.String() != "accepted_risks.no-retry" {
		t.Errorf("%+v", got)
	}
}

func TestAnUnusedRiskCanBeAcceptedAsSuch(t *testing.T) {
	t.Parallel()
	risks := map[string]string{"no-retry": "set by a module", "accepted-risk-unused": "the module serves many jobs"}
	if got := jobspec.Check(accepting(nightly(), risks)); len(got) > 0 {
		t.Error(rulesOf(got))
	}
}

// TestWhatCanBeAccepted holds the table against the design: any warning, and the errors about recovery, targets, tokens and stores;
// never those about leases, retention and schedules.
func TestWhatCanBeAccepted(t *testing.T) {
	t.Parallel()
	never := []jobspec.RuleID{
		"lease-too-short", "retention-too-short", "schedule-invalid", "schedule-groc", "schedule-never-fires", "time-zone-unknown",
		"app-engine-deadline-missing",
	}
	for _, id := range never {
		if rule, ok := jobspec.LookupRule(id); !ok || rule.Acceptable {
			t.Errorf("%s: %+v", id, rule)
		}
	}
	for _, rule := range jobspec.Rules {
		if rule.Severity == jobspec.Warning && !rule.Acceptable {
			t.Errorf("warning %s cannot be accepted", rule.ID)
		}
	}
	for _, id := range []jobspec.RuleID{"retry-ends-before-lease", "no-authentication", "google-api-target", "store-password"} {
		if rule, ok := jobspec.LookupRule(id); !ok || !rule.Acceptable || rule.Severity != jobspec.Error {
			t.Errorf("%s: %+v", id, rule)
		}
	}
}

func TestObserveTurnsProofsIntoWarningsAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range cases() {
		rule, _ := jobspec.LookupRule(c.rule)
		j := c.fire
		if mode, ok := j.Deduplication.Mode.Get(); ok && mode != jobspec.ModeObserve {
			continue // the mode itself is the case
		}
		j.Deduplication.Mode = text(jobspec.ModeObserve)
		for _, f := range of(jobspec.Check(j), c.rule) {
			want := rule.Severity
			if rule.Proof {
				want = jobspec.Warning
			}
			if f.Severity != want {
				t.Errorf("%s %s: %s, want %s", c.rule, c.name, f.Severity, want)
			}
		}
	}
}

func TestObserveLeavesTheDefaultsToCloudScheduler(t *testing.T) {
	t.Parallel()
	j := withDedup(func(d *jobspec.Deduplication) { d.Mode = text(jobspec.ModeObserve) })
	got := values(jobspec.Derive(j))
	for name, want := range map[string]string{
		"retry_count": "0", "max_retry_duration": "0s", "min_backoff_duration": "5s", "max_backoff_duration": "1h0m0s", "max_doublings": "5",
		"attempt_deadline": "3m0s", "audience": "https://report-abc.a.run.app/run", "lease": "3m30s",
		"X-Idempotent-Project": "acme-prod", "X-Idempotent-Region": "europe-west1",
		"X-Idempotent-Policy": "v=1;deadline=180s;lease=210s;retention=86400s;horizon=360s;schedule=0 3 * * *",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if found := rulesOf(jobspec.Check(j)); found != "warning no-retry" {
		t.Error(found)
	}
}

func TestAnAtMostOnceJobNeedsNoRecovery(t *testing.T) {
	t.Parallel()
	for name, retry := range map[string]jobspec.Retry{
		"none": {Count: num(0)}, "one": {Count: num(1), MinBackoff: dur(5e9)}, "google's": {Count: num(5), MinBackoff: dur(5e9)},
	} {
		j := withRetry(retry)
		j.Deduplication.AtMostOnce = yes()
		if got := jobspec.Check(j); len(got) > 0 {
			t.Errorf("%s: %s", name, rulesOf(got))
		}
	}
}

func TestATopicAndAMissingDeadlineHaveOneFindingEach(t *testing.T) {
	t.Parallel()
	bare := appEngine()
	bare.AttemptDeadline = dur(0)
	for want, j := range map[string]jobspec.Job{"error pubsub-target": topic(), "error app-engine-deadline-missing": bare} {
		if got := rulesOf(jobspec.Check(j)); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}
