package runstore_test

import (
	"context"
	"maps"
	"testing"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"github.com/google/go-cmp/cmp"
	frameworkresource "github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/runstore"
)

type object = acctest.Object

func create(t *testing.T, protocol acctest.Protocol, config object) acctest.Resource {
	t.Helper()
	created, diagnostics := protocol.Create(t, runstore.TypeName, config)
	if len(diagnostics) > 0 {
		t.Fatal(acctest.Text(diagnostics[0]))
	}
	return created
}

// withDefaults is a configuration with the defaults that the command line tool would fill in.
func withDefaults(config object) object {
	whole := object{"database": "(default)", "collection": "scheduler_runs", "index_exemptions": true, "deletion_policy": "ABANDON"}
	maps.Copy(whole, config)
	return whole
}

func wantOne(t *testing.T, diagnostics []*tfprotov6.Diagnostic, severity tfprotov6.DiagnosticSeverity, want string) {
	t.Helper()
	if len(diagnostics) != 1 {
		t.Fatalf("%d diagnostics: %v", len(diagnostics), diagnostics)
	}
	if diagnostics[0].Severity != severity {
		t.Errorf("severity %s", diagnostics[0].Severity)
	}
	if diff := cmp.Diff(want, acctest.Text(diagnostics[0])); diff != "" {
		t.Error(diff)
	}
}

func TestReadingShowsAPolicyThatNeedsRepair(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	created := create(t, protocol, withDefaults(nil))
	edit(t, cloud, "expire_at", func(f *adminpb.Field) { f.TtlConfig.State = adminpb.Field_TtlConfig_NEEDS_REPAIR })()
	found, diagnostics := protocol.Read(t, created)
	wantOne(t, diagnostics, tfprotov6.DiagnosticSeverityWarning, `
The expiry policy of firestore://acme-prod/(default)/scheduler_runs needs repair
New claims expire; ones that were there before the policy may stay. To have them removed too, set the policy again: `+
		"`gcloud firestore fields ttls update expire_at --collection-group=scheduler_runs --database=(default) --project=acme-prod --enable-ttl`.")
	if got := protocol.Attribute(t, found, "ttl_state"); got != "NEEDS_REPAIR" {
		t.Errorf("ttl_state is %q", got)
	}
}

func TestReadingWithoutTheRightToSeeTheSettingsWarns(t *testing.T) {
	t.Parallel()
	protocol, cloud := acctest.Start(t)
	created := create(t, protocol, withDefaults(nil))
	cloud.FailNext("ListFields", codes.PermissionDenied, "lacks permission", 1)
	found, diagnostics := protocol.Read(t, created)
	wantOne(t, diagnostics, tfprotov6.DiagnosticSeverityWarning, `
Unable to read expiry policy of collection "firestore://acme-prod/(default)/scheduler_runs"
lacks permission (PermissionDenied).

Grant the caller roles/datastore.indexAdmin on project acme-prod, and check that the project and its database (default) exist.`)
	if got := protocol.Attribute(t, found, "ttl_field"); got != "expire_at" {
		t.Errorf("ttl_field is %q", got)
	}
}

func TestDestroyingSaysWhatStays(t *testing.T) {
	t.Parallel()
	const at = "firestore://acme-prod/(default)/scheduler_runs"
	for policy, tested := range map[string]struct {
		severity tfprotov6.DiagnosticSeverity
		want     string
	}{
		"ABANDON": {tfprotov6.DiagnosticSeverityWarning, `
The settings of ` + at + ` stay
Its deletion_policy is ABANDON: expiry policy and index exemptions are only forgotten here, and the claims go on expiring.`},
		"DELETE": {tfprotov6.DiagnosticSeverityWarning, `
Claims of ` + at + ` will not expire any more
Its deletion_policy is DELETE: the expiry policy is removed, the claims stay. Whatever still writes claims there lets the collection grow.`},
		"PREVENT": {tfprotov6.DiagnosticSeverityError, `AttributeName("deletion_policy")
deletion_policy of run store "` + at + `" prevents its destruction
Set deletion_policy to ABANDON or DELETE and apply that first.`},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			protocol, _ := acctest.Start(t)
			created := create(t, protocol, withDefaults(object{"deletion_policy": policy}))
			wantOne(t, protocol.PlanDestroy(t, created), tested.severity, tested.want)
		})
	}
}

func TestStoreIsImportedByIdentity(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	create(t, protocol, withDefaults(nil))
	for title, identity := range map[string]object{
		"whole":            {"project": "acme-prod", "database": "(default)", "collection": "scheduler_runs"},
		"collection alone": {"project": nil, "database": nil, "collection": "scheduler_runs"},
	} {
		imported, diagnostics := protocol.ImportByIdentity(t, runstore.TypeName, identity)
		if len(diagnostics) > 0 {
			t.Fatalf("%s: %s", title, acctest.Text(diagnostics[0]))
		}
		if got := protocol.Attribute(t, imported, "url"); got != "firestore://acme-prod/(default)/scheduler_runs" {
			t.Errorf("%s: url %q", title, got)
		}
	}
}

// refusals are attributes that are refused before any request, with the whole message.
func refusals() map[string]struct {
	config object
	want   string
} {
	return map[string]struct {
		config object
		want   string
	}{
		"project": {object{"project": "acme/prod"}, `AttributeName("project")
project of run store: "acme/prod" is not a project
Set it to a project id, which matches [A-Za-z0-9:.-]{1,300}.`},
		"database": {object{"database": "Claims"}, `AttributeName("database")
database of run store: "Claims" is not a database
Set it to (default), or to 4 to 63 lower-case letters, digits and hyphens that begin with a letter and do not end with a hyphen.`},
		"collection": {object{"collection": "__runs__"}, `AttributeName("collection")
collection of run store: "__runs__" is not a collection
Set it to 1 to 100 letters, digits, underscores, dots and hyphens that begin with a letter, a digit or an underscore; Firestore keeps names between double underscores for itself.`},
		"deletion_policy": {object{"deletion_policy": "KEEP"}, `AttributeName("deletion_policy")
deletion_policy of run store: "KEEP" is not one of its values
It says what destroying the resource does.

Set it to ABANDON, DELETE or PREVENT.`},
	}
}

func TestStoreAttributesAreRefusedInFull(t *testing.T) {
	t.Parallel()
	for attribute, refused := range refusals() {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			wantOne(t, acctest.NewProtocol(t).ValidateResource(t, runstore.TypeName, refused.config), tfprotov6.DiagnosticSeverityError, refused.want)
		})
	}
}

func TestEachStoreAttributeHasARefusedValue(t *testing.T) {
	t.Parallel()
	var resp frameworkresource.SchemaResponse
	runstore.New().Schema(context.Background(), frameworkresource.SchemaRequest{}, &resp)
	tested := refusals()
	for name, attribute := range resp.Schema.Attributes {
		// It takes either truth value; the tool refuses everything else.
		if _, ok := tested[name]; !ok && attribute.IsOptional() && name != "index_exemptions" {
			t.Errorf("%s has no refused value in the table", name)
		}
	}
}

func TestProjectMustBeNamedSomewhere(t *testing.T) {
	t.Parallel()
	protocol := acctest.NewProtocol(t)
	if diagnostics := protocol.Configure(t, object{"access_token": "unused"}); len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	_, diagnostics := protocol.Create(t, runstore.TypeName, withDefaults(nil))
	wantOne(t, diagnostics, tfprotov6.DiagnosticSeverityError, `AttributeName("project")
project of run store is not set
Neither the resource nor the provider block names a project. Set it in either of them.`)
}
