package runstore_test

import (
	"errors"
	"regexp"
	"testing"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func allThree() knownvalue.Check {
	return knownvalue.ListExact([]knownvalue.Check{
		knownvalue.StringExact("expire_at"), knownvalue.StringExact("lease_expires"), knownvalue.StringExact("result"),
	})
}

func TestStoreIsMadeMendedAndForgotten(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	start := 0
	mark := func() { start = len(cloud.Requests()) }
	run(t,
		then(apply(cloud, store(), plancheck.ResourceActionCreate,
			state("id", knownvalue.StringExact(group)),
			state("url", knownvalue.StringExact("firestore://acme-prod/(default)/scheduler_runs")),
			state("project", knownvalue.StringExact("acme-prod")),
			state("ttl_field", knownvalue.StringExact("expire_at")),
			state("ttl_state", knownvalue.StringRegexp(regexp.MustCompile(`^(CREATING|ACTIVE)$`))),
			state("exempt_fields", allThree()),
			state("deletion_policy", knownvalue.StringExact("ABANDON")),
		), wantChanges(cloud, &start, "expire_at(index_config)", "lease_expires(index_config)", "result(index_config)", "expire_at(ttl_config)")),
		// Somebody takes the policy and one exemption away.
		then(before(apply(cloud, store(), plancheck.ResourceActionUpdate), func() {
			edit(t, cloud, "expire_at", func(f *adminpb.Field) { f.TtlConfig = nil })()
			edit(t, cloud, "result", func(f *adminpb.Field) { f.IndexConfig = nil })()
			mark()
		}), wantChanges(cloud, &start, "result(index_config)", "expire_at(ttl_config)")),
		// What was exempted stays so.
		then(before(apply(cloud, store(`index_exemptions = false`), plancheck.ResourceActionUpdate,
			state("exempt_fields", knownvalue.ListExact(nil))), mark),
			func() error {
				return errors.Join(wantChanges(cloud, &start)(), wantField(cloud, "result", false, true))
			}),
		then(before(apply(cloud, store(), plancheck.ResourceActionUpdate, state("exempt_fields", allThree())), mark), wantChanges(cloud, &start)),
		then(before(apply(cloud, store(`deletion_policy = "DELETE"`), plancheck.ResourceActionUpdate), mark), wantChanges(cloud, &start)),
		then(before(apply(cloud, store(), plancheck.ResourceActionUpdate), mark), wantChanges(cloud, &start)),
		// Another collection is another store, and the old one is left as it is.
		then(apply(cloud, store(`collection = "other_runs"`), plancheck.ResourceActionReplace,
			state("url", knownvalue.StringExact("firestore://acme-prod/(default)/other_runs"))),
			func() error { return wantField(cloud, "expire_at", true, true) }),
		apply(cloud, store(`database = "claims"`), plancheck.ResourceActionReplace,
			state("url", knownvalue.StringExact("firestore://acme-prod/claims/scheduler_runs"))),
		apply(cloud, store(`project = "acme-data"`), plancheck.ResourceActionReplace,
			state("url", knownvalue.StringExact("firestore://acme-data/(default)/scheduler_runs"))),
	)
	if err := wantField(cloud, "expire_at", true, true); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestStoreThatIsToBeDeletedTakesItsSettingsAway(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, store(`deletion_policy = "DELETE"`), plancheck.ResourceActionCreate))
	for _, field := range []string{"expire_at", "lease_expires", "result"} {
		if err := wantField(cloud, field, false, false); err != nil {
			t.Error(err)
		}
	}
}

func TestStoreTakesOverWhatIsThere(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	edit(t, cloud, "expire_at", func(f *adminpb.Field) {
		f.TtlConfig = &adminpb.Field_TtlConfig{State: adminpb.Field_TtlConfig_NEEDS_REPAIR}
	})()
	start := 0
	run(t, then(apply(cloud, store(), plancheck.ResourceActionCreate, state("ttl_state", knownvalue.StringExact("NEEDS_REPAIR"))),
		wantChanges(cloud, &start, "expire_at(index_config)", "lease_expires(index_config)", "result(index_config)")))
}

func TestStoreIsImportedByEachForm(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	steps := []resource.TestStep{apply(cloud, store(), plancheck.ResourceActionCreate)}
	for _, id := range []string{
		group, "firestore://acme-prod/(default)/scheduler_runs", "acme-prod/(default)/scheduler_runs", "(default)/scheduler_runs", "scheduler_runs",
	} {
		steps = append(steps, resource.TestStep{
			Config: acctest.Config(cloud, store()), ResourceName: address, ImportState: true, ImportStateId: id, ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{"ttl_state"}, // CREATING when it was made, ACTIVE since
		})
	}
	steps = append(steps, resource.TestStep{
		Config: acctest.Config(cloud, store()), ResourceName: address, ImportState: true, ImportStateId: "a/b/c/d",
		ExpectError: message(`Unable to import run store`, `The id "a/b/c/d" is none of`, `PROJECT/DATABASE/COLLECTION`),
	})
	run(t, steps...)
}

func TestStoreWhoseDatabaseIsGoneIsPlannedAnew(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, apply(cloud, store(), plancheck.ResourceActionCreate),
		resource.TestStep{
			PreConfig: func() { cloud.FailNext("ListFields", codes.NotFound, "The database (default) does not exist.", 2) },
			Config:    acctest.Config(cloud, store()),
			ExpectError: message(`Unable to read expiry policy of collection "firestore://acme-prod/(default)/scheduler_runs"`,
				`does not exist`, `resource "google_firestore_database" "claims" {`, `name        = "(default)"`, `type        = "FIRESTORE_NATIVE"`),
		},
		apply(cloud, store(), plancheck.ResourceActionCreate))
}

func TestStoreMadeHalfwayIsMendedByTheNextApply(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	start := 0
	run(t,
		resource.TestStep{
			PreConfig: func() { cloud.FailAfter("UpdateField", codes.PermissionDenied, "lacks permission", 1) },
			Config:    acctest.Config(cloud, store()),
			ExpectError: message(`Unable to set index exemption of expire_at in collection "firestore://acme-prod/(default)/scheduler_runs"`,
				`lacks permission (PermissionDenied)`, `roles/datastore.indexAdmin`),
		},
		then(before(apply(cloud, store(), plancheck.ResourceActionCreate), func() { start = len(cloud.Requests()) }),
			wantChanges(cloud, &start, "lease_expires(index_config)", "result(index_config)", "expire_at(ttl_config)")))
}

func TestStoreExplainsWhatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	run(t, resource.TestStep{
		PreConfig: func() { cloud.FailNext("UpdateField", codes.FailedPrecondition, "not in Datastore mode", 1) },
		Config:    acctest.Config(cloud, store()),
		ExpectError: message(`Unable to set index exemption of expire_at`, `not in Datastore mode (FailedPrecondition)`,
			`set index_exemptions = false`),
	}, apply(cloud, store(`index_exemptions = false`), plancheck.ResourceActionCreate))
}

func TestStoreRefusesAPolicyOnAnotherField(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	other := message(`its expiry policy is on field "expires"`, `Name another collection`, `fields ttls update expires`, `--disable-ttl`)
	move := func() {
		edit(t, cloud, "expire_at", func(f *adminpb.Field) { f.TtlConfig = nil })()
		edit(t, cloud, "expires", func(f *adminpb.Field) {
			f.TtlConfig = &adminpb.Field_TtlConfig{State: adminpb.Field_TtlConfig_ACTIVE}
		})()
	}
	move()
	run(t,
		resource.TestStep{Config: acctest.Config(cloud, store()), ExpectError: other},
		before(apply(cloud, store(), plancheck.ResourceActionCreate), edit(t, cloud, "expires", func(f *adminpb.Field) { f.TtlConfig = nil })),
		// Found by a refresh, it is an error of the plan already.
		resource.TestStep{PreConfig: move, Config: acctest.Config(cloud, store()), PlanOnly: true, ExpectError: other},
		before(apply(cloud, store(), plancheck.ResourceActionUpdate), edit(t, cloud, "expires", func(f *adminpb.Field) { f.TtlConfig = nil })))
}
