package scheduledjob_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	acceptance "github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

var update = flag.Bool("update", false, "write the messages of refused values again")

type object = acctest.Object

// refusal is a configuration that is refused for the sake of one attribute.
type refusal struct {
	root, target, oidc, oauth, retry, dedup, handler, timeouts object

	engine, routing object // an App Engine target in place of the other
	previous        object
}

// config is a valid job with the refused values in it.
func (r refusal) config() object {
	target := object{"uri": "https://reports-abc.a.run.app/run", "http_method": "POST"}
	maps.Copy(target, r.target)
	if r.oauth == nil {
		token := object{"service_account_email": "scheduler@acme-prod.iam.gserviceaccount.com"}
		maps.Copy(token, r.oidc)
		target["oidc_token"] = []object{token}
	} else {
		token := object{"service_account_email": "scheduler@acme-prod.iam.gserviceaccount.com"}
		maps.Copy(token, r.oauth)
		target["oauth_token"] = []object{token}
	}
	config := object{
		"name": "nightly-report", "project": "acme-prod", "region": "europe-west1", "schedule": "0 3 * * *",
		"http_target": []object{target},
	}
	if r.engine != nil || r.routing != nil {
		engine := object{"relative_uri": "/run"}
		maps.Copy(engine, r.engine)
		if r.routing != nil {
			engine["app_engine_routing"] = []object{r.routing}
		}
		delete(config, "http_target")
		config["app_engine_http_target"] = []object{engine}
		config["attempt_deadline"] = "600s"
	}
	if r.previous != nil {
		r.dedup = object{"previous": []object{r.previous}}
	}
	for block, fields := range map[string]object{"retry_config": r.retry, "deduplication": r.dedup, "handler": r.handler} {
		if fields != nil {
			config[block] = []object{fields}
		}
	}
	if r.timeouts != nil {
		config["timeouts"] = r.timeouts
	}
	maps.Copy(config, r.root)
	return config
}

// refusals holds at least one refused value of each attribute, by its path.
func refusals() map[string]refusal {
	return map[string]refusal{
		"name":             {root: object{"name": "nightly report"}},
		"project":          {root: object{"project": "acme/prod"}},
		"region":           {root: object{"region": "europe west1"}},
		"description":      {root: object{"description": strings.Repeat("x", 501)}},
		"schedule":         {root: object{"schedule": "@daily"}},
		"time_zone":        {root: object{"time_zone": "Europe/Berlim"}},
		"attempt_deadline": {root: object{"attempt_deadline": "3 minutes"}},
		"accepted_risks":   {root: object{"accepted_risks": object{"no-such-rule": "because"}}},
		"deletion_policy":  {root: object{"deletion_policy": "KEEP"}},

		"http_target.uri":                {target: object{"uri": "ftp://reports.example.com"}},
		"http_target.http_method":        {target: object{"http_method": "BREW"}},
		"http_target.body":               {target: object{"body": "not base64!"}},
		"http_target.body_text":          {target: object{"body_text": "hello", "http_method": "GET"}},
		"http_target.headers":            {target: object{"headers": object{"x-cloudscheduler": "true"}}},
		"http_target.headers_wo":         {target: object{"headers_wo": object{"X-Key": "secret"}}},
		"http_target.headers_wo_version": {target: object{"headers_wo_version": "1"}},
		"http_target.oidc_token.service_account_email": {
			oidc: object{"service_account_email": "service-1@gcp-sa-cloudscheduler.iam.gserviceaccount.com"},
		},
		"http_target.oidc_token.audience":               {oidc: object{"audience": "https://reports-abc.a.run.app/run?key=1"}},
		"http_target.oauth_token.service_account_email": {oauth: object{"service_account_email": "nobody"}},
		"http_target.oauth_token.scope":                 {oauth: object{"scope": "cloud-platform"}},

		"app_engine_http_target.relative_uri": {engine: object{"relative_uri": "run"}},
		"app_engine_http_target.http_method":  {engine: object{"http_method": "PATCH"}},
		"app_engine_http_target.body":         {engine: object{"body": "not base64!"}},
		"app_engine_http_target.body_text":    {engine: object{"body_text": "hello", "body": "aGVsbG8="}},
		"app_engine_http_target.headers":      {engine: object{"headers": object{"X-AppEngine-Cron": "true"}}},
		"app_engine_http_target.headers_wo": {
			engine: object{"headers_wo": object{"host": "secret"}, "headers_wo_version": "1"},
		},
		"app_engine_http_target.headers_wo_version":          {engine: object{"headers_wo_version": "1"}},
		"app_engine_http_target.app_engine_routing.service":  {routing: object{"service": "my service"}},
		"app_engine_http_target.app_engine_routing.version":  {routing: object{"version": "v.2"}},
		"app_engine_http_target.app_engine_routing.instance": {routing: object{"instance": "a/b"}},

		"retry_config.retry_count":          {retry: object{"retry_count": 6}},
		"retry_config.max_retry_duration":   {retry: object{"max_retry_duration": "-1s"}},
		"retry_config.min_backoff_duration": {retry: object{"min_backoff_duration": "5"}},
		"retry_config.max_backoff_duration": {retry: object{"max_backoff_duration": "10s"}},
		"retry_config.max_doublings":        {retry: object{"max_doublings": -1}},

		"deduplication.mode":            {dedup: object{"mode": "watch"}},
		"deduplication.store":           {dedup: object{"store": "postgres://app:secret@db/app"}},
		"deduplication.contract":        {dedup: object{"contract": "{}"}},
		"deduplication.request_timeout": {dedup: object{"request_timeout": "0s"}},
		"deduplication.lease":           {dedup: object{"lease": "60s"}},
		"deduplication.retention":       {dedup: object{"retention": "1m"}},
		"deduplication.forced_runs":     {dedup: object{"forced_runs": "never"}},
		"deduplication.run_scope":       {dedup: object{"run_scope": "all reports"}},
		"deduplication.run_id_format":   {dedup: object{"run_id_format": "v2"}},
		"deduplication.max_attempts":    {dedup: object{"max_attempts": -1}},
		"deduplication.at_most_once":    {dedup: object{"at_most_once": true, "store": "redis://cache:6379"}},

		"deduplication.previous.store":         {previous: object{"store": "memory", "until": "2027-01-31T00:00:00Z"}},
		"deduplication.previous.run_id_format": {previous: object{"run_id_format": "v2", "until": "2027-01-31T00:00:00Z"}},
		"deduplication.previous.run_scope":     {previous: object{"run_scope": "all reports", "until": "2027-01-31T00:00:00Z"}},
		"deduplication.previous.forced_runs":   {previous: object{"forced_runs": "never", "until": "2027-01-31T00:00:00Z"}},
		"deduplication.previous.until":         {previous: object{"until": "next month"}},

		"handler.kind":       {handler: object{"kind": "lambda"}},
		"handler.module":     {handler: object{"module": "not a module"}},
		"handler.package":    {handler: object{"package": "my-package"}},
		"handler.output_dir": {handler: object{"output_dir": ""}},

		"timeouts.create": {timeouts: object{"create": "soon"}},
		"timeouts.read":   {timeouts: object{"read": "soon"}},
		"timeouts.update": {timeouts: object{"update": "soon"}},
		"timeouts.delete": {timeouts: object{"delete": "soon"}},
	}
}

// The whole messages are in testdata/refused.json; go test -update writes them again, for a person to read before they are committed.
func TestRefusedValuesAreExplainedInFull(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "refused.json")
	got := map[string][]string{}
	for attribute, refused := range refusals() {
		for _, d := range acctest.NewProtocol(t).ValidateResource(t, scheduledjob.TypeName, refused.config()) {
			got[attribute] = append(got[attribute], strings.Split(acctest.Text(d), "\n")...)
		}
		if len(got[attribute]) == 0 {
			t.Errorf("%s: nothing was refused", attribute)
		}
	}
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages differ (- want, + got):\n%s", diff)
	}
}

func TestEachAttributeHasARefusedValue(t *testing.T) {
	t.Parallel()
	var resp resource.SchemaResponse
	scheduledjob.New().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	tested := refusals()
	for _, flag := range flags() {
		tested[flag] = refusal{}
	}
	for _, attribute := range settable("", resp.Schema.Attributes, resp.Schema.Blocks) {
		if _, ok := tested[attribute]; !ok {
			t.Errorf("%s has no refused value in the table", attribute)
		}
		delete(tested, attribute)
	}
	for attribute := range tested {
		t.Errorf("%s is in the table and not in the schema", attribute)
	}
}

// flags are the attributes that take either truth value; the tool itself refuses everything else.
func flags() []string {
	return []string{"paused", "deduplication.manage_ttl", "deduplication.renew_lease", "deduplication.wait"}
}

func TestJobFlagsTakeOnlyTruthValues(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	for _, flag := range flags() {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			block, attribute, nested := strings.Cut(flag, ".")
			text := block + " = \"perhaps\""
			if nested {
				text = fmt.Sprintf("%s {\n  %s = \"perhaps\"\n}", block, attribute)
			} else {
				attribute = block
			}
			run(t, acceptance.TestStep{
				Config:      acctest.Config(cloud, job{root: text}.String()),
				ExpectError: message(fmt.Sprintf(`Inappropriate value for attribute "%s": a bool is required.`, attribute)),
			})
		})
	}
}

// settable lists the paths of all attributes that people can set.
func settable(prefix string, attributes map[string]schema.Attribute, blocks map[string]schema.Block) []string {
	var paths []string
	for name, attribute := range attributes {
		if attribute.IsRequired() || attribute.IsOptional() {
			paths = append(paths, prefix+name)
		}
	}
	for name, block := range blocks {
		switch block := block.(type) {
		case schema.ListNestedBlock:
			paths = append(paths, settable(prefix+name+".", block.NestedObject.Attributes, block.NestedObject.Blocks)...)
		case schema.SingleNestedBlock:
			paths = append(paths, settable(prefix+name+".", block.Attributes, block.Blocks)...)
		}
	}
	slices.Sort(paths)
	return paths
}

func TestAServiceThatOthersCallIsNoHandlerOfAJob(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"webhook", "api"} {
		refused := refusal{handler: object{"kind": kind}}
		found := acctest.NewProtocol(t).ValidateResource(t, scheduledjob.TypeName, refused.config())
		want := `AttributeName("handler").ElementKeyInt(0).AttributeName("kind")
handler.kind of job "nightly-report": the handler cannot be generated
kind "` + kind + `": it is called by others than jobs: describe it by an idempotent_handler of its own.`
		if len(found) != 1 || acctest.Text(found[0]) != want {
			t.Errorf("%s: got %v", kind, found)
		}
	}
}
