package generator_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// judged is a change to a good spec, and the lines of the error that it gives.
type judged struct {
	change func(*generator.Spec)
	want   []string
}

// judge plans a good spec after each change.
func judge(t *testing.T, good func() generator.Spec, changes map[string]judged) {
	t.Helper()
	for name, tt := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := good()
			tt.change(&spec)
			_, err := generator.Plan(spec)
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
				if _, ok := errors.AsType[*generator.SpecError](err); !ok {
					t.Errorf("%T is no SpecError", err)
				}
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWebhooksAreJudged(t *testing.T) {
	t.Parallel()
	good := func() generator.Spec {
		return generator.Spec{Name: "billing", Kind: "webhook", Store: "sqlite", Webhook: &generator.Webhook{}}
	}
	judge(t, good, map[string]judged{
		"good":               {func(*generator.Spec) {}, nil},
		"nothing said":       {func(s *generator.Spec) { s.Webhook = nil }, nil},
		"jobs":               {func(s *generator.Spec) { s.Jobs = []string{"a"} }, []string{"jobs: kind webhook serves no jobs: leave them out"}},
		"a store that loses": {func(s *generator.Spec) { s.Store = "redis" }, []string{"store: Redis cannot keep events until they are done: choose one of firestore, postgres, postgresql, spanner, sqlite"}},
		"a source with a blank": {func(s *generator.Spec) { s.Webhook.Source = "a b" }, []string{
			`webhook.source "a b": it must match [A-Za-z0-9_.:/-]{1,200}`,
		}},
		"events": {func(s *generator.Spec) { s.Webhook.Events = []string{"a.b", "a.b", "a-b", "other", "a b", "."} }, []string{
			`webhook.events[1] "a.b": it is listed twice`,
			`webhook.events[2] "a-b": it gets the same Go name as "a.b", AB: serve one of them by a handler of its own`,
			`webhook.events[3] "other": its Go name, Other, is that of the events of all other types: receive it by a handler of its own`,
			`webhook.events[4] "a b": it must match [A-Za-z0-9_.:/-]{1,200}`,
			`webhook.events[5] ".": it holds no letter or digit to name a Go method by`,
		}},
		"a key in the place of its variable": {func(s *generator.Spec) { s.Webhook.Secrets = []string{"whsec_aHVudGVyMg=="} }, []string{
			"webhook.secrets[0]: it looks like a key itself: name the environment variable that holds it",
		}},
		"secrets": {func(s *generator.Spec) { s.Webhook.Secrets = []string{"A", "A", "B-C", "PORT"} }, []string{
			`webhook.secrets[1] "A": it is listed twice`,
			"webhook.secrets[2]: it must be the name of an environment variable, [A-Za-z_][A-Za-z0-9_]{0,99}",
			`webhook.secrets[3] "PORT": the handler reads something else from it`,
		}},
		"times": {func(s *generator.Spec) { s.Webhook.RetryHorizon, s.Webhook.Tolerance = -1, 25*time.Hour }, []string{
			`webhook.retry_horizon "-1ns": it must be a positive duration of 8784h0m0s at most`,
			`webhook.tolerance "25h0m0s": it must be a positive duration of 24h0m0s at most`,
		}},
		"another status": {func(s *generator.Spec) { s.Webhook.OnConflict = "400" }, []string{`webhook.on_conflict "400": it must be flag, 409 or 422`}},
		"a retention below the sender's horizon": {func(s *generator.Spec) { s.Policy.Retention = 24 * time.Hour }, []string{
			`policy.retention "24h0m0s": an event that is forgotten while its sender retries would be done twice: at least 77h0m0s`,
		}},
		"a lease below the timeout": {func(s *generator.Spec) { s.Policy.Lease = time.Minute }, []string{
			`policy.lease "1m0s": it must be longer than the timeout, 1m0s, or be renewed`,
		}},
		"a policy of jobs": {func(s *generator.Spec) { s.Policy = run.Policy{Forced: run.ForcedReject, Wait: true} }, []string{
			"policy.forced: kind webhook has no use for it: it takes deadline, timeout, lease, renew, retention, max_attempts",
			"policy.wait: kind webhook has no use for it: it takes deadline, timeout, lease, renew, retention, max_attempts",
		}},
	})
}

func TestAPIsAreJudged(t *testing.T) {
	t.Parallel()
	good := func() generator.Spec {
		return generator.Spec{Name: "orders", Kind: "api", Store: "sqlite", API: &generator.API{}}
	}
	judge(t, good, map[string]judged{
		"good":         {func(*generator.Spec) {}, nil},
		"nothing said": {func(s *generator.Spec) { s.API = nil }, nil},
		"jobs":         {func(s *generator.Spec) { s.Jobs = []string{"a"} }, []string{"jobs: kind api serves no jobs: leave them out"}},
		"a store that may forget": {func(s *generator.Spec) { s.Store = "redis" }, []string{
			"store: Redis may forget keys when it fails over, and a request that is repeated after that runs twice: choose another store, or set api.accept_failover_loss",
		}},
		"such a store, accepted": {func(s *generator.Spec) { s.Store, s.API.AcceptFailoverLoss = "redis", true }, nil},
		"a window":               {func(s *generator.Spec) { s.API.Window = -time.Hour }, []string{`api.window "-1h0m0s": it must be a positive duration of 8784h0m0s at most`}},
		"no name of a header":    {func(s *generator.Spec) { s.API.TenantHeader = "X Tenant" }, []string{`api.tenant_header "X Tenant": it must match [A-Za-z0-9_-]{1,100}`}},
		"the key's own header": {func(s *generator.Spec) { s.API.TenantHeader = "idempotency-key" }, []string{
			`api.tenant_header "idempotency-key": it carries the key, not the tenant`,
		}},
		"cases": {func(s *generator.Spec) {
			s.API.Codes, s.API.Statuses = map[string]string{"reused": "", "busy": "E1"}, map[string]int{"in_progress": 200}
		}, []string{
			"api.codes.busy: there is no such case; the cases are body_too_large, body_unreadable, expired, failed, in_progress, key_invalid, " +
				"key_missing, key_too_long, response_not_kept, reused, scope_missing, unavailable, unknown, unrecorded",
			"api.codes.reused: it must match [A-Za-z0-9_.:-]{1,100}",
			`api.statuses.in_progress "200": it must be an error's, from 400 to 599`,
		}},
		"a member of the standard's": {func(s *generator.Spec) { s.API.CodeMember = "title" }, []string{`api.code_member "title": RFC 9457 has another meaning for it`}},
		"a lapse":                    {func(s *generator.Spec) { s.API.Lapse = "retry" }, []string{`api.lapse "retry": it must be unknown, in_transaction or rerun`}},
		"a lease below the timeout": {func(s *generator.Spec) { s.Policy.Lease = time.Minute }, []string{
			`policy.lease "1m0s": it is too short for requests of 1m0s: at least 1m10s`,
		}},
		"a policy of jobs": {func(s *generator.Spec) { s.Policy.MaxAttempts = 3 }, []string{
			"policy.max_attempts: kind api has no use for it: it takes timeout, lease, renew",
		}},
	})
}
