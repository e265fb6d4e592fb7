package runstore

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// policyOperation is a verb on the expiry policy, with what mends its errors.
func policyOperation(verb string, at ttl.Collection) explain.Operation {
	return explain.Operation{Verb: verb, Noun: "expiry policy of collection", Name: at.String(), Remedies: remedies(at)}
}

// exemptionOperation is a verb on the index exemption of one field.
func exemptionOperation(verb, field string, at ttl.Collection) explain.Operation {
	op := explain.Operation{
		Verb: verb, Noun: "index exemption of " + field + " in collection", Name: at.String(), Path: path.Root("index_exemptions"),
		Remedies: remedies(at),
	}
	for _, code := range []codes.Code{codes.FailedPrecondition, codes.InvalidArgument, codes.Unimplemented} {
		op.Remedies[code] = "Databases in Datastore mode and of the Enterprise edition take no exemptions: set index_exemptions = false."
	}
	return op
}

func remedies(at ttl.Collection) map[codes.Code]string {
	return map[codes.Code]string{
		codes.PermissionDenied: fmt.Sprintf("Grant the caller roles/datastore.indexAdmin on project %s, and check that the project and its "+
			"database %s exist.", at.Project, at.Database),
		codes.NotFound: databaseRemedy(at),
	}
}

// databaseRemedy shows the block that makes the missing database.
func databaseRemedy(at ttl.Collection) string {
	return fmt.Sprintf("The database is not there. Create it, and let this resource depend on it by database = "+
		"google_firestore_database.claims.name (the location, here eur3, cannot be changed later):\n\n"+
		"resource \"google_firestore_database\" \"claims\" {\n  project     = %q\n  name        = %q\n  location_id = \"eur3\"\n"+
		"  type        = \"FIRESTORE_NATIVE\"\n}", at.Project, at.Database)
}

// otherField is the error for a collection whose one policy is on a field that is not the claims'.
func otherField(at ttl.Collection, field string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("collection"),
		fmt.Sprintf("collection of run store %q: its expiry policy is on field %q", at.String(), field),
		fmt.Sprintf("A collection group has one policy at most, and claims expire by %s. Nothing is changed, since somebody may rely on "+
			"the other one.\n\nName another collection, here and in the store of handlers and jobs; or, if that policy is not needed, remove "+
			"it: `gcloud firestore fields ttls update %s --collection-group=%s --database=%s --project=%s --disable-ttl`.",
			ttl.Field, field, at.Group, at.Database, at.Project))
}

// needsRepair is the warning for a policy that does not cover every older claim.
func needsRepair(at ttl.Collection) diag.Diagnostic {
	return diag.NewWarningDiagnostic(fmt.Sprintf("The expiry policy of %s needs repair", at),
		fmt.Sprintf("New claims expire; ones that were there before the policy may stay. To have them removed too, set the policy again: "+
			"`gcloud firestore fields ttls update %s --collection-group=%s --database=%s --project=%s --enable-ttl`.",
			ttl.Field, at.Group, at.Database, at.Project))
}

// missing are the fields of the first list that the second does not hold.
func missing(wanted, there []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(field string) bool { return slices.Contains(there, field) })
}
