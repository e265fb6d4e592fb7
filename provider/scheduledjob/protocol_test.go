package scheduledjob_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

func create(t *testing.T, protocol acctest.Protocol, config object) acctest.Resource {
	t.Helper()
	created, diagnostics := protocol.Create(t, scheduledjob.TypeName, config)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics[0]))
	}
	return created
}

// wantWarnings compares the summaries; an error is none.
func wantWarnings(t *testing.T, diagnostics []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	var got []string
	for _, d := range diagnostics {
		if d.Severity != tfprotov6.DiagnosticSeverityWarning {
			t.Errorf("an error: %s", acctest.Text(d))
		}
		got = append(got, d.Summary)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDestroyingSaysWhatStays(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	folder := t.TempDir()
	created := create(t, protocol, refusal{root: object{"deletion_policy": "ABANDON"}, handler: object{"output_dir": folder}}.config())
	wantWarnings(t, protocol.PlanDestroy(t, created),
		`Job "nightly-report" stays and keeps firing`,
		`The expiry policy of firestore://acme-prod/(default)/scheduler_runs stays`,
		`The handler's files stay in `+folder)
}

func TestReadingWithoutTheRightToSeeThePolicyWarns(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	created := create(t, protocol, refusal{}.config())
	cloud.FailNext("GetField", codes.PermissionDenied, "lacks permission", 1)
	_, diagnostics := protocol.Read(t, created)
	wantWarnings(t, diagnostics, `Unable to read expiry policy of collection "firestore://acme-prod/(default)/scheduler_runs"`)
}

func TestHalfMadeJobIsKeptWithAWarning(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	cloud.FailNext("PauseJob", codes.Internal, "something broke", 1)
	cloud.FailNext("DeleteJob", codes.Internal, "something broke", 1)
	created, diagnostics := protocol.Create(t, scheduledjob.TypeName, refusal{root: object{"paused": true}}.config())
	wantWarnings(t, diagnostics, `Job "nightly-report" is only half made`)
	if got := protocol.Attribute(t, created, "id"); got != fullName {
		t.Errorf("the state does not hold the job: id %q", got)
	}
	if !strings.Contains(diagnostics[0].Detail, "something broke") {
		t.Errorf("the cause is missing: %s", diagnostics[0].Detail)
	}
}

func TestJobIsImportedByIdentity(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	create(t, protocol, refusal{}.config())
	for title, identity := range map[string]object{
		"whole":      {"project": "acme-prod", "region": "europe-west1", "name": "nightly-report"},
		"name alone": {"project": nil, "region": nil, "name": "nightly-report"},
	} {
		imported, diagnostics := protocol.ImportByIdentity(t, scheduledjob.TypeName, identity)
		if len(diagnostics) > 0 {
			t.Fatalf("%s: %s", title, acctest.Text(diagnostics[0]))
		}
		if got := protocol.Attribute(t, imported, "schedule"); got != "0 3 * * *" {
			t.Errorf("%s: schedule %q", title, got)
		}
		if imported.Identity == nil {
			t.Errorf("%s: no identity", title)
		}
	}
}

func TestTwoCollectionsOfOneRunAreEachSetOnce(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	for name, store := range map[string]string{"a": "one", "b": "two", "c": "one"} {
		create(t, protocol, refusal{root: object{"name": name}, dedup: object{"store": "firestore://acme-prod/(default)/" + store}}.config())
	}
	set := map[string]int{}
	for _, request := range cloud.Requests() {
		if request.Method == "UpdateField" {
			set[request.Resource]++
		}
	}
	if len(set) != 2 {
		t.Errorf("set %v", set)
	}
	for field, times := range set {
		if times != 1 {
			t.Errorf("%s was set %d times", field, times)
		}
	}
}
