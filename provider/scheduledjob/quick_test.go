package scheduledjob_test

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/quick"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

// planned are configurations of which there is nothing to say, or little.
func planned() map[string]refusal {
	return map[string]refusal{
		"plain":            {},
		"all defaults":     {root: object{"project": nil, "region": nil}},
		"an audience":      {oidc: object{"audience": "https://reports-abc.a.run.app"}},
		"no method":        {target: object{"http_method": nil}},
		"another spelling": {root: object{"time_zone": "UTC", "attempt_deadline": "3m"}, target: object{"uri": "https://reports-abc.a.run.app"}},
		"a body":           {target: object{"body_text": "hello", "headers": object{"Content-Type": "text/plain"}}},
		"hidden headers":   {target: object{"headers_wo": object{"X-Key": "secret"}, "headers_wo_version": "1"}},
		"paused":           {root: object{"paused": true}},
		"not paused":       {root: object{"paused": false}},
		"retries":          {retry: object{"retry_count": 3, "min_backoff_duration": "2m"}},
		"no retries":       {retry: object{"retry_count": 0}},
		"every setting":    {dedup: object{"lease": "5m", "renew_lease": false, "run_scope": "reports", "wait": true, "max_attempts": 3}},
		"observed":         {dedup: object{"mode": "observe"}},
		"a previous name":  {previous: object{"run_scope": "before", "until": "2099-01-01T00:00:00Z"}},
		"a handler":        {handler: object{"kind": "http"}},
		"a timeout":        {timeouts: object{"create": "1m"}},
		"App Engine":       {engine: object{"http_method": nil}, routing: object{"service": "reports"}},
		"kept":             {root: object{"deletion_policy": "PREVENT", "description": "Makes the report."}},
		"a risk":           {root: object{"accepted_risks": object{"no-retry": "made by hand"}}, retry: object{"retry_count": 0}},
		"two targets":      {root: object{"http_target": []object{{"uri": "https://a.example.com/"}, {"uri": "https://b.example.com/"}}}},
		"no target":        {root: object{"http_target": []object{}}},
		"no name":          {root: object{"name": nil}},
		"no account":       {oidc: object{"service_account_email": nil}},
		"no address":       {target: object{"uri": nil}},
		"an access token":  {target: object{"uri": "https://workflows.googleapis.com/v1/x"}, oauth: object{"scope": nil}},
		"another place":    {root: object{"region": "us-central1", "project": "example.com:acme"}},
	}
}

// frameworkAlone is the provider as the framework serves it.
func frameworkAlone(t *testing.T) acctest.Protocol {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("dev")())()
	if err != nil {
		t.Fatal(err)
	}
	return acctest.Protocol{ProviderServer: server}
}

// Each configuration is judged, planned anew, planned once more as it is, and planned with another schedule.
func TestQuickAnswersAreThoseOfTheFramework(t *testing.T) {
	t.Parallel()
	settings := object{"access_token": "unused", "project": "acme-prod", "region": "europe-west1"}
	served, alone := acctest.NewProtocol(t), frameworkAlone(t)
	served.Configure(t, settings)
	alone.Configure(t, settings)
	all := planned()
	maps.Copy(all, refusals())
	for title, tested := range all {
		config := served.Sent(t, scheduledjob.TypeName, tested.config())
		sameVerdict(t, title, served, alone, config)
		none := tftypes.NewValue(layout(t, served), nil)
		state := samePlan(t, title+", new", served, alone, config, none)
		if state.IsNull() {
			continue
		}
		state = applied(t, state)
		samePlan(t, title+", unchanged", served, alone, config, state)
		changed := tested.config()
		changed["schedule"] = "0 4 * * *"
		samePlan(t, title+", changed", served, alone, served.Sent(t, scheduledjob.TypeName, changed), state)
	}
}

// Each value of some configurations is made one that is known after apply only, one at a time.
func TestQuickAnswersWaitForWhatIsUnknownAsTheFrameworkDoes(t *testing.T) {
	t.Parallel()
	settings := object{"access_token": "unused", "project": "acme-prod", "region": "europe-west1"}
	served, alone := acctest.NewProtocol(t), frameworkAlone(t)
	served.Configure(t, settings)
	alone.Configure(t, settings)
	all := planned()
	for _, title := range []string{"an audience", "a body", "retries", "every setting", "a previous name", "App Engine", "a risk"} {
		config := all[title].config()
		known, err := served.Sent(t, scheduledjob.TypeName, config).Unmarshal(layout(t, served))
		if err != nil {
			t.Fatal(err)
		}
		none := tftypes.NewValue(known.Type(), nil)
		for _, path := range written(t, known) {
			unknown, err := tftypes.Transform(known, func(at *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
				if at.Equal(path) {
					return tftypes.NewValue(value.Type(), tftypes.UnknownValue), nil
				}
				return value, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			sent, err := tfprotov6.NewDynamicValue(known.Type(), unknown)
			if err != nil {
				t.Fatal(err)
			}
			title := title + ", unknown " + path.String()
			sameVerdict(t, title, served, alone, &sent)
			samePlan(t, title, served, alone, &sent, none)
		}
	}
}

// written are the paths of what is set in a configuration. Blocks of one name can be unknown together, and not one by itself.
func written(t *testing.T, config tftypes.Value) []*tftypes.AttributePath {
	t.Helper()
	var paths []*tftypes.AttributePath
	err := tftypes.Walk(config, func(at *tftypes.AttributePath, value tftypes.Value) (bool, error) {
		if !value.Type().Is(tftypes.Object{}) && !value.IsNull() {
			paths = append(paths, at)
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sameVerdict has both say the same of a configuration.
func sameVerdict(t *testing.T, title string, served, alone acctest.Protocol, config *tfprotov6.DynamicValue) {
	t.Helper()
	validate := &tfprotov6.ValidateResourceConfigRequest{
		TypeName: scheduledjob.TypeName, Config: config,
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	}
	got, err := served.ValidateResourceConfig(t.Context(), validate)
	want, wantErr := alone.ValidateResourceConfig(t.Context(), validate)
	if err != nil || wantErr != nil {
		t.Fatal(err, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: judged otherwise:\n%s", title, diff)
	}
}

// samePlan has both plan the same, as a tool asks for it, and returns what they plan: null when it is refused.
func samePlan(t *testing.T, title string, served, alone acctest.Protocol, config *tfprotov6.DynamicValue, before tftypes.Value) tftypes.Value {
	t.Helper()
	prior, err := tfprotov6.NewDynamicValue(before.Type(), before)
	if err != nil {
		t.Fatal(err)
	}
	request := &tfprotov6.PlanResourceChangeRequest{
		TypeName: scheduledjob.TypeName, Config: config, PriorState: &prior, ProposedNewState: served.Proposed(t, scheduledjob.TypeName, &prior, config),
	}
	got, err := served.PlanResourceChange(t.Context(), request)
	want, wantErr := alone.PlanResourceChange(t.Context(), request)
	if err != nil || wantErr != nil {
		t.Fatal(err, wantErr)
	}
	decode := func(value *tfprotov6.DynamicValue) tftypes.Value {
		decoded, err := value.Unmarshal(before.Type())
		if err != nil {
			t.Fatal(err)
		}
		return decoded
	}
	if one, two := decode(got.PlannedState), decode(want.PlannedState); !one.Equal(two) {
		differences, err := two.Diff(one)
		t.Errorf("%s: planned otherwise: %v %v", title, differences, err)
	}
	planned := decode(got.PlannedState)
	got.PlannedState, want.PlannedState = nil, nil
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *tftypes.AttributePath) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("%s: answered otherwise:\n%s", title, diff)
	}
	for _, d := range got.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return tftypes.NewValue(before.Type(), nil)
		}
	}
	return planned
}

// applied is a planned state with the server's part of it known.
func applied(t *testing.T, planned tftypes.Value) tftypes.Value {
	t.Helper()
	state, err := tftypes.Transform(planned, func(at *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
		if at.Equal(tftypes.NewAttributePath().WithAttributeName("state")) {
			return tftypes.NewValue(tftypes.String, "ENABLED"), nil
		}
		return value, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func layout(t *testing.T, p acctest.Protocol) tftypes.Type {
	t.Helper()
	schemas, err := p.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return schemas.ResourceSchemas[scheduledjob.TypeName].ValueType()
}

// asked notes what is left to the framework.
type asked struct {
	quick.Framework

	calls int
}

func (a *asked) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	a.calls++
	return a.Framework.ValidateResourceConfig(ctx, req)
}

func (a *asked) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	a.calls++
	return a.Framework.PlanResourceChange(ctx, req)
}

func TestAPlainJobIsPlannedWithoutTheFramework(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	server, ok := protocol.ProviderServer.(*quick.Server)
	if !ok {
		t.Fatalf("the provider is served by %T", protocol.ProviderServer)
	}
	left := &asked{Framework: server.Framework}
	server.Framework = left
	protocol.Configure(t, object{"access_token": "unused"})
	config := protocol.Sent(t, scheduledjob.TypeName, refusal{}.config())
	if resp, err := protocol.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: scheduledjob.TypeName, Config: config,
	}); err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(resp, err)
	}
	state := applied(t, samePlan(t, "new", protocol, protocol, config, tftypes.NewValue(layout(t, protocol), nil)))
	samePlan(t, "unchanged", protocol, protocol, config, state)
	if left.calls > 0 {
		t.Errorf("the framework was asked %d times", left.calls)
	}
	changed := refusal{root: object{"schedule": "0 4 * * *"}}.config()
	samePlan(t, "changed", protocol, protocol, protocol.Sent(t, scheduledjob.TypeName, changed), state)
	if left.calls == 0 {
		t.Error("a change was planned without the framework")
	}
}
