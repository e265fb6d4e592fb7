package scheduledjob_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// Each step sets one attribute and leaves out the one before, so it proves an update and a removal: the job on the server must
// differ from the plain one in exactly what the attribute stands for.
func TestJobAttributesAreUpdatedAndRemoved(t *testing.T) {
	t.Parallel()
	for _, part := range []map[string]struct {
		job     job
		differs []string
	}{
		{
			"description":      {job{root: `description = "Sends the report"`}, []string{"description=Sends the report"}},
			"schedule":         {job{root: `schedule = "30 4 * * MON-FRI"`}, []string{"policy", "schedule=30 4 * * MON-FRI"}},
			"time_zone":        {job{root: `time_zone = "Europe/Berlin"`}, []string{"policy", "time_zone=Europe/Berlin"}},
			"attempt_deadline": {job{root: `attempt_deadline = "10m"`}, []string{"attempt_deadline=10m0s", "min_backoff=43s", "policy"}},
			"uri": {
				job{target: `uri = "https://reports-abc.a.run.app/other"`}, []string{"uri=https://reports-abc.a.run.app/other"},
			},
			"http_method": {job{target: `http_method = "PUT"`}, []string{"method=PUT"}},
			"body":        {job{target: `body = base64encode("hello")`}, []string{"body=hello"}},
			"body_text":   {job{target: `body_text = "hello there"`}, []string{"body=hello there"}},
			"headers":     {job{target: "headers = {\n  X-Team = \"billing\"\n}"}, []string{"X-Team=billing"}},
			"audience": {
				job{
					root:  "accepted_risks = {\n  audience-origin = \"the service lists it in custom_audiences\"\n}",
					token: `audience = "https://reports.example.com"`,
				},
				[]string{"audience=https://reports.example.com"},
			},
			"service_account_email": {
				job{token: `service_account_email = "other@acme-prod.iam.gserviceaccount.com"`},
				[]string{"account=other@acme-prod.iam.gserviceaccount.com"},
			},
		},
		{
			"retry_count":          {job{root: "retry_config {\n  retry_count = 4\n}"}, []string{"min_backoff=32s", "policy?", "retry_count=4"}},
			"max_retry_duration":   {job{root: "retry_config {\n  max_retry_duration = \"2h\"\n}"}, []string{"max_retry=2h0m0s", "policy?"}},
			"min_backoff_duration": {job{root: "retry_config {\n  min_backoff_duration = \"60s\"\n}"}, []string{"min_backoff=1m0s", "policy?"}},
			"max_backoff_duration": {job{root: "retry_config {\n  max_backoff_duration = \"20m\"\n}"}, []string{"max_backoff=20m0s", "policy?"}},
			"max_doublings":        {job{root: "retry_config {\n  max_doublings = 4\n}"}, []string{"max_doublings=4", "policy?"}},
			"request_timeout":      {dedup(`request_timeout = "120s"`), []string{"policy"}},
			"lease":                {dedup(`lease = "200s"`), []string{"min_backoff=14s", "policy"}},
			"renew_lease":          {dedup(`renew_lease = true`), []string{"min_backoff=17s", "policy"}},
			"retention":            {dedup(`retention = "48h"`), []string{"policy"}},
			"forced_runs":          {dedup(`forced_runs = "reject"`), []string{"policy"}},
			"run_scope":            {dedup(`run_scope = "reports"`), []string{"policy"}},
			"run_id_format":        {dedup(`run_id_format = "sample"`), []string{"policy"}},
			"max_attempts":         {dedup(`max_attempts = 3`), []string{"policy"}},
			"at_most_once":         {dedup(`at_most_once = true`), []string{"policy"}},
			"wait":                 {dedup(`wait = true`), []string{"policy"}},
			"store":                {dedup(`store = "firestore://acme-prod/(default)/other_runs"`), nil},
			"manage_ttl":           {dedup(`manage_ttl = false`), nil},
			"deletion_policy":      {job{root: `deletion_policy = "ABANDON"`}, nil},
			"timeouts":             {job{root: "timeouts {\n  create = \"1m\"\n}"}, nil},
			"handler":              {job{root: "handler {\n  module = \"example.com/reports\"\n}"}, nil},
		},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			cloud := acctest.Cloud(t)
			var plain map[string]string
			steps := []resource.TestStep{then(apply(cloud, job{}, plancheck.ResourceActionCreate), func() (err error) {
				plain, err = facts(cloud)
				return err
			})}
			for _, attribute := range slices.Sorted(maps.Keys(part)) {
				tested := part[attribute]
				steps = append(steps, then(apply(cloud, tested.job, plancheck.ResourceActionUpdate), func() error {
					return wantDifference(cloud, attribute, plain, tested.differs)
				}))
			}
			steps = append(steps, then(apply(cloud, job{}, plancheck.ResourceActionUpdate), func() error {
				return wantDifference(cloud, "nothing", plain, nil)
			}))
			run(t, steps...)
		})
	}
}

func dedup(text string) job { return job{root: "deduplication {\n" + text + "\n}"} }

func wantDifference(cloud *localcloud.Cloud, attribute string, plain map[string]string, want []string) error {
	now, err := facts(cloud)
	if err != nil {
		return err
	}
	var got []string
	for _, key := range slices.Sorted(maps.Keys(merge(plain, now))) {
		switch {
		case plain[key] == now[key]:
		case key == "policy":
			got = append(got, "policy")
		default:
			got = append(got, key+"="+now[key])
		}
	}
	// The policy header follows from several attributes at once; a question mark leaves it open.
	if slices.Contains(want, "policy?") {
		got = slices.DeleteFunc(got, func(s string) bool { return s == "policy" })
		want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "policy?" })
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("with %s the job on the server differs in %q, not in %q", attribute, got, want)
	}
	return nil
}

func merge(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// facts is what the server holds of the job, in words.
func facts(cloud *localcloud.Cloud) (map[string]string, error) {
	live, err := cloud.Job(fullName)
	if err != nil {
		return nil, err
	}
	target, retry := live.GetHttpTarget(), live.GetRetryConfig()
	all := map[string]string{
		"description": live.GetDescription(), "schedule": live.GetSchedule(), "time_zone": live.GetTimeZone(),
		"attempt_deadline": live.GetAttemptDeadline().AsDuration().String(),
		"uri":              target.GetUri(), "method": target.GetHttpMethod().String(), "body": string(target.GetBody()),
		"account": target.GetOidcToken().GetServiceAccountEmail(), "audience": target.GetOidcToken().GetAudience(),
		"retry_count":   strconv.Itoa(int(retry.GetRetryCount())),
		"max_retry":     retry.GetMaxRetryDuration().AsDuration().String(),
		"min_backoff":   retry.GetMinBackoffDuration().AsDuration().String(),
		"max_backoff":   retry.GetMaxBackoffDuration().AsDuration().String(),
		"max_doublings": strconv.Itoa(int(retry.GetMaxDoublings())),
	}
	for key, value := range target.GetHeaders() {
		switch {
		case strings.EqualFold(key, "X-Idempotent-Policy"):
			all["policy"] = value
		case key != "User-Agent" && key != "Authorization" && key != "Content-Type":
			all[key] = value
		}
	}
	return all, nil
}

// What somebody changes by hand is shown, and set back.
func TestJobChangedByHandIsSetBack(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	steps := []resource.TestStep{apply(cloud, job{}, plancheck.ResourceActionCreate)}
	for _, change := range []func(*schedulerpb.Job){
		func(live *schedulerpb.Job) { live.Description = "by hand" },
		func(live *schedulerpb.Job) { live.Schedule = "0 5 * * *" },
		func(live *schedulerpb.Job) { live.GetRetryConfig().RetryCount = 1 },
		func(live *schedulerpb.Job) { live.GetHttpTarget().GetHeaders()["X-By-Hand"] = "yes" },
		func(live *schedulerpb.Job) { delete(live.GetHttpTarget().GetHeaders(), "X-Idempotent-Policy") },
		func(live *schedulerpb.Job) {
			live.GetHttpTarget().GetOidcToken().Audience = "https://elsewhere.example.com"
		},
		func(live *schedulerpb.Job) { live.GetHttpTarget().AuthorizationHeader = nil },
	} {
		steps = append(steps, before(apply(cloud, job{}, plancheck.ResourceActionUpdate), edit(t, cloud, change)))
	}
	run(t, steps...)
}
