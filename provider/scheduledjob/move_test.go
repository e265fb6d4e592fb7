package scheduledjob_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

const (
	incumbentProvider = "registry.terraform.io/hashicorp/google"
	incumbentType     = "google_cloud_scheduler_job"
)

// incumbentState is a state as google_cloud_scheduler_job writes it.
func incumbentState(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "incumbent", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func move(t *testing.T, protocol acctest.Protocol, from, file string) (acctest.Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	return protocol.Move(t, scheduledjob.TypeName, from, incumbentType, incumbentState(t, file))
}

// at is a value of a state by its path of names and indexes, as Go: nil, string, bool, and so on.
func at(t *testing.T, state tftypes.Value, steps ...any) any {
	t.Helper()
	path := tftypes.NewAttributePath()
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			path = path.WithAttributeName(step)
		case int:
			path = path.WithElementKeyInt(step)
		}
	}
	found, _, err := tftypes.WalkAttributePath(state, path)
	if err != nil {
		t.Fatalf("%v: %v", steps, err)
	}
	value, ok := found.(tftypes.Value)
	switch {
	case !ok || value.IsNull():
		return nil
	case value.Type().Is(tftypes.String):
		var text string
		if err := value.As(&text); err != nil {
			t.Fatal(err)
		}
		return text
	case value.Type().Is(tftypes.Bool):
		var flag bool
		if err := value.As(&flag); err != nil {
			t.Fatal(err)
		}
		return flag
	default:
		return value.String()
	}
}

func TestStateOfTheIncumbentIsTakenOver(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]map[string]any{
		"plain": {
			"id": fullName, "schedule": "0 3 * * *", "time_zone": "Etc/UTC", "attempt_deadline": "180s", "paused": false, "state": "ENABLED",
			"description": nil, "deletion_policy": "DELETE",
		},
		"whole": {
			"id": fullName, "schedule": "*/8 * * * *", "time_zone": "America/New_York", "attempt_deadline": "320s", "paused": true,
			"state": "PAUSED", "description": "Sends the report", "deletion_policy": "DELETE",
		},
		"zeros":  {"id": fullName, "time_zone": "Etc/UTC", "attempt_deadline": "180s", "paused": false, "description": nil},
		"engine": {"id": fullName, "attempt_deadline": "600s"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			protocol, _ := acctest.Start(t)
			moved, diagnostics := move(t, protocol, incumbentProvider, file)
			if len(diagnostics) > 0 {
				t.Fatal(acctest.Text(diagnostics[0]))
			}
			if moved.Identity == nil {
				t.Error("no identity")
			}
			state := protocol.Decode(t, moved)
			got := map[string]any{}
			for name := range want {
				got[name] = at(t, state, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTargetAndRetriesOfTheIncumbentAreTakenOver(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	moved, _ := move(t, protocol, incumbentProvider, "whole")
	state := protocol.Decode(t, moved)
	for want, got := range map[string]any{
		"https://reports.googleapis.com/run": at(t, state, "http_target", 0, "uri"),
		"PUT":                                at(t, state, "http_target", 0, "http_method"),
		"eyJmb28iOiJiYXIifQ==":               at(t, state, "http_target", 0, "body"),
		"scheduler@acme-prod.iam.gserviceaccount.com":    at(t, state, "http_target", 0, "oauth_token", 0, "service_account_email"),
		"https://www.googleapis.com/auth/cloud-platform": at(t, state, "http_target", 0, "oauth_token", 0, "scope"),
		"5s":  at(t, state, "effective_retry_config", "min_backoff_duration"),
		"10m": at(t, state, "timeouts", "create"),
	} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	moved, _ = move(t, protocol, incumbentProvider, "engine")
	state = protocol.Decode(t, moved)
	if service, version := at(t, state, "app_engine_http_target", 0, "app_engine_routing", 0, "service"),
		at(t, state, "app_engine_http_target", 0, "app_engine_routing", 0, "version"); service != "worker" || version != "v2" {
		t.Errorf("routing is %v, %v", service, version)
	}
	if instance := at(t, state, "app_engine_http_target", 0, "app_engine_routing", 0, "instance"); instance != nil {
		t.Errorf("the instance is %v, not left out", instance)
	}
}

// The server cannot tell a zero from a field left out, and neither can a state that it was read into.
func TestZerosOfTheIncumbentAreTheServersDefaults(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	for _, file := range []string{"zeros", "plain"} {
		moved, _ := move(t, protocol, incumbentProvider, file)
		state := protocol.Decode(t, moved)
		for name, want := range map[string]any{"min_backoff_duration": "5s", "max_backoff_duration": "3600s", "max_retry_duration": "0s"} {
			if got := at(t, state, "effective_retry_config", name); got != want {
				t.Errorf("%s: %s is %v, want %v", file, name, got, want)
			}
		}
	}
}

// The job is on the server as the incumbent made it; the plan after the move changes it in place, whether it is read first or not.
func TestMovedJobIsChangedInPlaceWithAndWithoutARefresh(t *testing.T) {
	t.Parallel()
	for _, refresh := range []bool{true, false} {
		protocol, cloud := acctest.Start(t)
		if _, err := client(cloud).Create(t.Context(), name(), &schedulerpb.Job{
			Name: fullName, Schedule: "0 3 * * *", TimeZone: "Etc/UTC",
			Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
				Uri: "https://reports-abc.a.run.app/run", HttpMethod: schedulerpb.HttpMethod_POST,
				AuthorizationHeader: &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
					ServiceAccountEmail: "scheduler@acme-prod.iam.gserviceaccount.com", Audience: "https://reports-abc.a.run.app",
				}},
			}},
		}); err != nil {
			t.Fatal(err)
		}
		moved, diagnostics := move(t, protocol, incumbentProvider, "plain")
		if refresh && len(diagnostics) == 0 {
			before := protocol.Decode(t, moved)
			moved, diagnostics = protocol.Read(t, moved)
			if after := protocol.Decode(t, moved); at(t, before, "effective_retry_config") != at(t, after, "effective_retry_config") ||
				at(t, before, "http_target") != at(t, after, "http_target") {
				t.Errorf("the read differs from the move:\n%v\n%v", before, after)
			}
		}
		if len(diagnostics) > 0 {
			t.Fatal(acctest.Text(diagnostics[0]))
		}
		start := len(cloud.Requests())
		if _, diagnostics = protocol.Update(t, moved, refusal{}.config()); len(diagnostics) > 0 {
			t.Fatal(acctest.Text(diagnostics[0]))
		}
		if err := wantCalls(cloud, &start, "UpdateField(ttl_config)", "UpdateJob(retry_config,http_target)")(); err != nil {
			t.Error(err)
		}
	}
}

func TestMoveKnowsTheIncumbentFromEveryRegistry(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	for from, known := range map[string]bool{
		incumbentProvider: true, "registry.opentofu.org/hashicorp/google": true, "registry.terraform.io/hashicorp/google-beta": true,
		"mirror.example.com/hashicorp/google": true,
		// The address under which Terraform moves the second instance of a resource.
		"registry.terraform.io/idempotent-jobs/idempotent": true,
		"registry.terraform.io/acme/google":                false, "registry.terraform.io/hashicorp/aws": false,
	} {
		_, diagnostics := move(t, protocol, from, "plain")
		if moved := len(diagnostics) == 0; moved != known {
			t.Errorf("%s: moved %t, %v", from, moved, diagnostics)
		}
	}
	if _, diagnostics := protocol.Move(t, scheduledjob.TypeName, incumbentProvider, "google_cloud_tasks_queue", incumbentState(t, "plain")); len(diagnostics) == 0 {
		t.Error("another type is taken for a job")
	}
}

func TestMoveExplainsWhatItCannotTake(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	broken := func(change func(map[string]any)) []byte {
		var state map[string]any
		if err := json.Unmarshal(incumbentState(t, "plain"), &state); err != nil {
			t.Fatal(err)
		}
		change(state)
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for title, tested := range map[string]struct {
		state []byte
		want  string
	}{
		"a topic":           {incumbentState(t, "pubsub"), `Job "nightly-report" cannot be moved: it publishes to a Pub/Sub topic`},
		"no state":          {[]byte(`[]`), "Its state cannot be read"},
		"no place":          {[]byte(`{"name": "nightly-report"}`), "names no project"},
		"a broken deadline": {broken(func(s map[string]any) { s["attempt_deadline"] = "soon" }), `attempt_deadline "soon" is not a duration`},
		"a broken retry": {
			broken(func(s map[string]any) { s["retry_config"] = []any{map[string]any{"min_backoff_duration": "soon"}} }),
			`retry_config.min_backoff_duration "soon" is not a duration`,
		},
		"no target": {broken(func(s map[string]any) { s["http_target"] = []any{} }), "neither an HTTP nor an App Engine target"},
	} {
		_, diagnostics := protocol.Move(t, scheduledjob.TypeName, incumbentProvider, incumbentType, tested.state)
		if len(diagnostics) == 0 || !strings.Contains(acctest.Text(diagnostics[0]), tested.want) {
			t.Errorf("%s: said %v", title, diagnostics)
		}
	}
}
