package handler_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	frameworkresource "github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/handler"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

type object = acctest.Object

// config is a configuration with the defaults that the command line tool would fill in.
func config(more object) object {
	whole := object{"name": "reports", "kind": "http", "previous": []object{}}
	maps.Copy(whole, more)
	return whole
}

// earlier is a block previous.
func earlier(more object) object {
	block := object{"job": nil, "store": nil, "run_id_format": nil, "run_scope": nil, "forced_runs": nil, "until": "2027-01-31T00:00:00Z"}
	maps.Copy(block, more)
	return block
}

// refusals are attributes that are refused before any request, with the whole message.
func refusals() map[string]struct {
	config object
	want   string
} {
	block := func(more object) object { return object{"previous": []object{earlier(more)}} }
	return map[string]struct {
		config object
		want   string
	}{
		"name": {object{"name": "night reports"}, `AttributeName("name")
name of handler "night reports": the handler cannot be generated
name "night reports": it must match [A-Za-z0-9_-]{1,500}.`},
		"module": {object{"module": "my module"}, `AttributeName("module")
module of handler "reports": the handler cannot be generated
module "my module": it is no path of a Go module: write one such as example.com/team/handler.`},
		"package": {object{"package": "func"}, `AttributeName("package")
package of handler "reports": the handler cannot be generated
package "func": it must be the name of a Go package: lower-case letters, digits and underscores, no keyword.`},
		"jobs": {object{"jobs": []string{"a", "a"}}, `AttributeName("jobs").ElementKeyInt(1)
jobs of handler "reports": the handler cannot be generated
jobs[1] "a": it is listed twice.`},
		"project": {object{"project": "acme/prod"}, `AttributeName("project")
project of handler "reports": the handler cannot be generated
project "acme/prod": it must match [A-Za-z0-9:.-]{1,300}.`},
		"region": {object{"region": "Europe"}, `AttributeName("region")
region of handler "reports": the handler cannot be generated
region "Europe": it must match [a-z0-9-]{1,63}.`},
		"store": {object{"store": "postgres://me:secret@db/claims"}, `AttributeName("store")
store of handler "reports": the handler cannot be generated
store: the URL holds a password or what may be one: take it out and give it at run time in PGPASSWORD.`},
		"service_account_email": {object{"service_account_email": "reports"}, `AttributeName("service_account_email")
service_account_email of handler "reports": "reports" is not an address
Name the service account by its address, NAME@PROJECT.iam.gserviceaccount.com.`},
		"caller": {object{"caller": "open"}, `AttributeName("caller")
caller of handler "reports": "open" is not one of its values
It says how the handler finds out who calls.

Set it to one of verify, cloud_run_iam, app_engine, insecure, or leave it out.`},
		"callers": {object{"callers": []string{"scheduler"}}, `AttributeName("callers").ElementKeyInt(0)
callers[0] of handler "reports": it cannot be used
"scheduler" is not the address of an account: write it like NAME@PROJECT.iam.gserviceaccount.com.`},
		"callers, empty": {object{"callers": []string{}}, `AttributeName("callers")
callers of handler "reports": it is empty
Nobody could call.

Name the service accounts of the jobs, or leave it out to let in those of the project.`},
		"request_timeout": {object{"request_timeout": "25h"}, `AttributeName("request_timeout")
request_timeout of handler "reports": "25h" is not a duration it can have
Write a number and a unit, such as "300s" or "5m"; above zero and at most 24h0m15s.`},
		"audience": {object{"audience": "https://a.example.com/?x=1"}, `AttributeName("audience")
audience of handler "reports": "https://a.example.com/?x=1" is not an audience
It names the service that tokens are for, without blanks, commas or a query string: handlers keep audiences in a comma list, and platforms answer 401 to a query string.`},
		"output_dir": {object{"output_dir": ""}, `AttributeName("output_dir")
output_dir of handler "reports": it is empty
The handler's files are written to this folder.

Name a folder, or leave it out to have the files in files only.`},
		"forward": {object{"kind": "forward_workflows"}, `AttributeName("forward")
forward of handler "reports": the handler cannot be generated
forward: kind forward_workflows needs it: say for each job what its runs start.`},
		"webhook": {object{"webhook": webhookPart(nil)}, `AttributeName("webhook")
webhook of handler "reports": the handler cannot be generated
webhook: kind http receives none: choose kind webhook, or leave it out.`},
		"api": {object{"api": apiPart(nil)}, `AttributeName("api")
api of handler "reports": the handler cannot be generated
api: kind http serves no API: choose kind api, or leave it out.`},
		"webhook.source": {webhookOf(object{"source": "my sender"}), `AttributeName("webhook").AttributeName("source")
webhook.source of handler "reports": the handler cannot be generated
webhook.source "my sender": it must match [A-Za-z0-9_.:/-]{1,200}.`},
		"webhook.events": {webhookOf(object{"events": []string{"a", "b c"}}), `AttributeName("webhook").AttributeName("events").ElementKeyInt(1)
webhook.events of handler "reports": the handler cannot be generated
webhook.events[1] "b c": it must match [A-Za-z0-9_.:/-]{1,200}.`},
		"webhook.secrets": {webhookOf(object{"secrets": []string{"whsec_aHVudGVyMg=="}}), `AttributeName("webhook").AttributeName("secrets").ElementKeyInt(0)
webhook.secrets of handler "reports": the handler cannot be generated
webhook.secrets[0]: it looks like a key itself: name the environment variable that holds it.`},
		"webhook.retry_horizon": {webhookOf(object{"retry_horizon": "long"}), `AttributeName("webhook").AttributeName("retry_horizon")
webhook.retry_horizon of handler "reports": "long" is not a duration
Write a number and a unit, such as "90s" or "76h".`},
		"webhook.tolerance": {webhookOf(object{"tolerance": "-1s"}), `AttributeName("webhook").AttributeName("tolerance")
webhook.tolerance of handler "reports": the handler cannot be generated
webhook.tolerance "-1s": it must be a positive duration of 24h0m0s at most.`},
		"webhook.on_conflict": {webhookOf(object{"on_conflict": "ignore"}), `AttributeName("webhook").AttributeName("on_conflict")
webhook.on_conflict of handler "reports": the handler cannot be generated
webhook.on_conflict "ignore": it must be flag, 409 or 422.`},
		"api.window": {apiOf(object{"window": "3"}), `AttributeName("api").AttributeName("window")
api.window of handler "reports": "3" is not a duration
Write a number and a unit, such as "90s" or "76h".`},
		"api.tenant_header": {apiOf(object{"tenant_header": "Idempotency-Key"}), `AttributeName("api").AttributeName("tenant_header")
api.tenant_header of handler "reports": the handler cannot be generated
api.tenant_header "Idempotency-Key": it carries the key, not the tenant.`},
		"api.codes": {apiOf(object{"codes": object{"reused": "E 1"}}), `AttributeName("api").AttributeName("codes").ElementKeyString("reused")
api.codes.reused of handler "reports": the handler cannot be generated
api.codes.reused "E 1": it must match [A-Za-z0-9_.:-]{1,100}.`},
		"api.statuses": {apiOf(object{"statuses": object{"reused": 200}}), `AttributeName("api").AttributeName("statuses").ElementKeyString("reused")
api.statuses.reused of handler "reports": the handler cannot be generated
api.statuses.reused "200": it must be an error's, from 400 to 599.`},
		"api.code_member": {apiOf(object{"code_member": "title"}), `AttributeName("api").AttributeName("code_member")
api.code_member of handler "reports": the handler cannot be generated
api.code_member "title": RFC 9457 has another meaning for it.`},
		"api.lapse": {apiOf(object{"lapse": "retry"}), `AttributeName("api").AttributeName("lapse")
api.lapse of handler "reports": the handler cannot be generated
api.lapse "retry": it must be unknown, in_transaction or rerun.`},
		"api on Redis, without accept_failover_loss": {object{"kind": "api", "store": "redis://cache:6379/0"}, `AttributeName("store")
store of handler "reports": the handler cannot be generated
store: Redis may forget keys when it fails over, and a request that is repeated after that runs twice: choose another store, or set api.accept_failover_loss.`},
		"webhook, callers by the platform": {object{"kind": "webhook", "caller": "cloud_run_iam"}, `AttributeName("caller")
caller of handler "reports": "cloud_run_iam" proves nothing here
The service is open to its sender, who has no account, so that the platform lets everybody in.

Set it to verify, or leave it out.`},
		"api, callers": {object{"kind": "api", "caller": "verify"}, `AttributeName("caller")
caller of handler "reports": kind api has no use for it
It is for handlers of scheduled jobs.

Leave it out.`},
		"previous.job": {block(object{"job": "night reports"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("job")
previous[0].job of handler "reports": "night reports" cannot be used
It does not match [A-Za-z0-9_-]{1,500}.`},
		"previous.store": {block(object{"store": "mysql://db"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("store")
previous[0].store of handler "reports": it cannot be used
store: it must be a URL or the scheme alone of one of firestore, postgres, postgresql, redis, rediss, spanner, sqlite.`},
		"previous.run_id_format": {block(object{"run_id_format": "v2"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("run_id_format")
previous[0].run_id_format of handler "reports": "v2" cannot be used
It is neither v1 nor sample.`},
		"previous.run_scope": {block(object{"run_scope": "all reports"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("run_scope")
previous[0].run_scope of handler "reports": "all reports" cannot be used
It does not match [A-Za-z0-9_-]{1,100}.`},
		"previous.forced_runs": {block(object{"forced_runs": "never"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("forced_runs")
previous[0].forced_runs of handler "reports": "never" cannot be used
It is none of separate, skip_next, reject.`},
		"previous.until": {block(object{"until": "next year"}), `AttributeName("previous").ElementKeyInt(0).AttributeName("until")
previous[0].until of handler "reports": "next year" is not a time
Write RFC 3339, such as 2027-01-31T00:00:00Z.`},
		"previous, twice": {object{"previous": []object{earlier(nil), earlier(nil)}}, `AttributeName("previous")
previous of handler "reports": job "" is there twice: a run has one previous name
Handlers read these blocks when they start, and would not start with them.`},
		"previous, two stores": {
			object{"previous": []object{
				earlier(object{"job": "a", "store": "sqlite:a.db"}), earlier(object{"job": "b", "store": "sqlite:b.db"}),
			}}, `AttributeName("previous").ElementKeyInt(1).AttributeName("store")
previous[1].store of handler "reports": "sqlite:b.db" is a second previous store
A handler remembers one.

Serve the jobs of the other store by a handler of their own while their names change.`,
		},
	}
}

// whole is an object with all of the given attributes, null but for those in more.
func whole(attributes []string, more object) object {
	o := object{}
	for _, attribute := range attributes {
		o[attribute] = more[attribute]
	}
	return o
}

func webhookPart(more object) object {
	return whole([]string{"source", "events", "secrets", "retry_horizon", "tolerance", "on_conflict"}, more)
}

func apiPart(more object) object {
	return whole([]string{
		"window", "tenant_header", "key_required", "codes", "statuses", "code_member", "lapse", "accept_failover_loss",
	}, more)
}

func webhookOf(more object) object { return object{"kind": "webhook", "webhook": webhookPart(more)} }

func apiOf(more object) object { return object{"kind": "api", "api": apiPart(more)} }

func TestAttributesAreRefusedInFull(t *testing.T) {
	t.Parallel()
	for attribute, refused := range refusals() {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			diagnostics := acctest.NewProtocol(t).ValidateResource(t, handler.TypeName, config(refused.config))
			if len(diagnostics) != 1 {
				t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
			}
			if diff := cmp.Diff(refused.want, acctest.Text(diagnostics[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// refusedTargets are attributes of forward, with the kind that has them and what of the message names the mend.
func refusedTargets() map[string]struct {
	kind, collection string
	target           object
	want             []string
} {
	type row = struct {
		kind, collection string
		target           object
		want             []string
	}
	const workflow, job, build = "forward_workflows", "jobs", "forward_cloud_build"
	return map[string]row{
		"target":        {workflow, "workflows", object{"target": "report"}, []string{`projects/PROJECT/locations/REGION/workflows/NAME`}},
		"on_unknown":    {workflow, "workflows", object{"on_unknown": "wait"}, []string{`it must be hold or rerun`}},
		"argument":      {workflow, "workflows", object{"argument": "last"}, []string{`JSON`}},
		"container":     {workflow, "workflows", object{"container": "main"}, []string{`it takes argument`}},
		"args":          {workflow, "workflows", object{"args": []string{"x"}}, []string{`it takes argument`}},
		"env":           {"forward_run_job", job, object{"env": object{"1 X": "y"}}, []string{`1 X`}},
		"tasks":         {"forward_run_job", job, object{"tasks": -1}, []string{`-1`}},
		"timeout":       {"forward_run_job", job, object{"timeout": "soon"}, []string{`"soon" is not a duration`, `such as "600s"`}},
		"branch":        {build, "triggers", object{"branch": "main", "tag": "v1"}, []string{`tag`}},
		"tag":           {workflow, "workflows", object{"tag": "v1"}, []string{`it takes argument`}},
		"commit":        {workflow, "workflows", object{"commit": "abc"}, []string{`it takes argument`}},
		"substitutions": {build, "triggers", object{"substitutions": object{"lower": "x"}}, []string{`lower`}},
	}
}

func TestTargetsAreRefusedAtTheirAttribute(t *testing.T) {
	t.Parallel()
	for attribute, refused := range refusedTargets() {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			whole := object{"target": "projects/acme-prod/locations/europe-west1/" + refused.collection + "/report"}
			maps.Copy(whole, refused.target)
			diagnostics := acctest.NewProtocol(t).ValidateResource(t, handler.TypeName, config(object{
				"kind": refused.kind, "forward": object{"nightly-report": target(whole)},
			}))
			if len(diagnostics) != 1 {
				t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
			}
			want := append([]string{
				`AttributeName("forward").ElementKeyString("nightly-report").AttributeName("` + attribute + `")`,
				`forward.nightly-report.` + attribute + ` of handler "reports"`,
			}, refused.want...)
			if got := acctest.Text(diagnostics[0]); !message(want...).MatchString(got) {
				t.Error(got)
			}
		})
	}
}

func TestUnknownKindIsRefusedWithThoseThereAre(t *testing.T) {
	t.Parallel()
	diagnostics := acctest.NewProtocol(t).ValidateResource(t, handler.TypeName, config(object{"kind": "lambda"}))
	if len(diagnostics) != 1 {
		t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
	}
	if got := acctest.Text(diagnostics[0]); !message(append([]string{`AttributeName("kind")`, `kind of handler "reports"`, `kind "lambda"`},
		generator.Kinds()...)...).MatchString(got) {
		t.Error(got)
	}
}

func TestEachAttributeHasARefusedValue(t *testing.T) {
	t.Parallel()
	var resp frameworkresource.SchemaResponse
	handler.New().Schema(context.Background(), frameworkresource.SchemaRequest{}, &resp)
	tested := refusals()
	check := func(prefix string, attributes map[string]schema.Attribute) {
		for name, attribute := range attributes {
			settable := attribute.IsOptional() || attribute.IsRequired()
			if _, either := attribute.(schema.BoolAttribute); either {
				continue // no value of it is wrong
			}
			if _, ok := tested[prefix+name]; !ok && settable && name != "kind" {
				t.Errorf("%s%s has no refused value in the table", prefix, name)
			}
		}
	}
	check("", resp.Schema.Attributes)
	if forward, ok := resp.Schema.Attributes["forward"].(schema.MapNestedAttribute); ok {
		for name := range forward.NestedObject.Attributes {
			if _, ok := refusedTargets()[name]; !ok {
				t.Errorf("forward.%s has no refused value in the table", name)
			}
		}
	}
	for _, name := range []string{"webhook", "api"} {
		part, ok := resp.Schema.Attributes[name].(schema.SingleNestedAttribute)
		if !ok {
			t.Fatalf("%s is a %T", name, resp.Schema.Attributes[name])
		}
		check(name+".", part.Attributes)
	}
	for name, block := range resp.Schema.Blocks {
		nested, ok := block.(schema.ListNestedBlock)
		if !ok {
			t.Fatalf("%s is a %T", name, block)
		}
		check(name+".", nested.NestedObject.Attributes)
	}
}

// attributes are the values of the state.
func attributes(t *testing.T, protocol acctest.Protocol, r acctest.Resource) map[string]tftypes.Value {
	t.Helper()
	schemas, err := protocol.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	state, err := r.State.Unmarshal(schemas.ResourceSchemas[r.Type].ValueType())
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]tftypes.Value{}
	if err := state.As(&values); err != nil {
		t.Fatal(err)
	}
	return values
}

// What a kind's platform sets by itself, for the handler to see where it is.
func platform() map[string]map[string]string {
	cloudRun := map[string]string{"K_SERVICE": "reports"}
	return map[string]map[string]string{
		"appengine": {"GAE_ENV": "standard", "GAE_SERVICE": "default", "GAE_APPLICATION": "e~acme-prod", "GOOGLE_CLOUD_PROJECT": "acme-prod"},
		"":          cloudRun,
	}
}

// targets is what a kind that forwards starts for the job, nil for other kinds.
func targets(kind string) any {
	collection, ok := map[string]string{
		"forward_workflows": "workflows", "forward_run_job": "jobs", "forward_cloud_build": "triggers",
	}[kind]
	if !ok {
		return nil
	}
	return object{"nightly-report": target(object{"target": "projects/acme-prod/locations/europe-west1/" + collection + "/report"})}
}

// target is what one job starts.
func target(more object) object {
	return whole([]string{
		"target", "on_unknown", "argument", "container", "args", "env", "tasks", "timeout", "branch", "tag", "commit", "substitutions",
	}, more)
}

// created makes the handler and returns its environment, and its contract; "" when it has none.
func created(t *testing.T, attributesOf object) (env map[string]string, contract string) {
	t.Helper()
	protocol, _ := acctest.Start(t)
	made, diagnostics := protocol.Create(t, handler.TypeName, config(attributesOf))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics[0]))
	}
	state := attributes(t, protocol, made)
	values := map[string]tftypes.Value{}
	if err := state["env"].As(&values); err != nil {
		t.Fatal(err)
	}
	env = map[string]string{}
	for name, value := range values {
		var text string
		if err := value.As(&text); err != nil {
			t.Fatal(err)
		}
		env[name] = text
	}
	if state["contract"].IsNull() {
		return env, ""
	}
	return env, protocol.Attribute(t, made, "contract")
}

// What the provider puts into the environment, the handler starts with; and the contract is one that jobs can read.
func TestEnvironmentIsOneThatTheHandlerStartsWith(t *testing.T) {
	t.Parallel()
	for _, kind := range generator.Kinds() {
		if kind == "api" {
			continue // which nothing of Cloud Scheduler's calls
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			more := object{
				"kind": kind, "forward": targets(kind), "callers": []string{"scheduler@acme-prod.iam.gserviceaccount.com"}, "request_timeout": "5m",
			}
			var jobs []string
			if generator.Schedules(kind) {
				jobs = []string{"nightly-report"}
				more["region"], more["jobs"] = "europe-west1", jobs
			}
			env, text := created(t, more)
			given, ok := platform()[kind]
			if !ok {
				given = platform()[""]
			}
			if _, err := scheduled.FromEnv(func(name string) string {
				if text, ok := env[name]; ok {
					return text
				}
				return given[name]
			}); err != nil {
				t.Errorf("with %v: %v", env, err)
			}
			contract, err := jobspec.ParseContract(text)
			if err != nil {
				t.Fatal(err)
			}
			if contract.Kind != kind || !slices.Equal(contract.Jobs, jobs) {
				t.Errorf("the contract is %+v", contract)
			}
		})
	}
}

func TestAWebhooksInboxIsDrainedByJobsThatProveThemselves(t *testing.T) {
	t.Parallel()
	env, contract := created(t, object{"kind": "webhook", "request_timeout": "30s"})
	want := map[string]string{
		"IDEMPOTENT_STORE": "firestore://acme-prod/(default)/webhook_inbox", "IDEMPOTENT_CALLER": "verify", "IDEMPOTENT_PROJECT": "acme-prod",
		"IDEMPOTENT_AUDIENCES": "idempotent/acme-prod/reports",
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Error(diff)
	}
	const promised = `{"v":1,"handler":"reports","kind":"webhook","store":"firestore://acme-prod/(default)/webhook_inbox",` +
		`"audience":"idempotent/acme-prod/reports"}`
	if contract != promised {
		t.Errorf("the contract is %s", contract)
	}
}

func TestAnAPIHasNothingToDoWithJobs(t *testing.T) {
	t.Parallel()
	env, contract := created(t, apiOf(object{"window": "24h"}))
	want := map[string]string{"IDEMPOTENT_STORE": "firestore://acme-prod/(default)/idempotency_keys"}
	if diff := cmp.Diff(want, env); diff != "" || contract != "" {
		t.Errorf("contract %q; %s", contract, diff)
	}
}

func TestVerifyingHasAConstantAudience(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	created, diagnostics := protocol.Create(t, handler.TypeName, config(object{"caller": "verify"}))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics[0]))
	}
	if got := protocol.Attribute(t, created, "audience"); got != "idempotent/acme-prod/reports" {
		t.Errorf("audience is %q", got)
	}
}

func TestDestroyingSaysThatTheFilesStay(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	folder := t.TempDir()
	created, diagnostics := protocol.Create(t, handler.TypeName, config(object{"output_dir": folder}))
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics[0]))
	}
	found := protocol.PlanDestroy(t, created)
	if len(found) != 1 || found[0].Severity != tfprotov6.DiagnosticSeverityWarning || found[0].Summary != "The handler's files stay in "+folder {
		t.Errorf("got %v", found)
	}
}

func TestProjectMustBeNamedSomewhere(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	if diagnostics := protocol.Configure(t, object{"access_token": "unused"}); len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	_, diagnostics := protocol.Create(t, handler.TypeName, config(nil))
	const want = `AttributeName("project")
project of handler "reports" is not set
Neither the resource nor the provider block names a project. Set it in either of them.`
	if len(diagnostics) != 1 || acctest.Text(diagnostics[0]) != want {
		t.Errorf("got %v", diagnostics)
	}
}
