package scheduledjob

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/explain"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// operation is a verb on a job, with what mends its errors.
func operation(verb string, m model) explain.Operation {
	name := m.jobName()
	return explain.Operation{
		Verb: verb, Noun: "job", Name: name.Job,
		Attribute: attributeOf,
		Remedies: map[codes.Code]string{
			codes.AlreadyExists:    importRemedy(name),
			codes.PermissionDenied: permissionRemedy(name, m.serviceAccount()),
			codes.NotFound: fmt.Sprintf("Check that project %s and region %s exist, that Cloud Scheduler is offered in the region "+
				"(`gcloud scheduler locations list`), and that its API is enabled (`gcloud services enable cloudscheduler.googleapis.com "+
				"--project %s`).", name.Project, name.Region, name.Project),
		},
	}
}

// policyOperation is a verb on the expiry policy of a collection.
func policyOperation(verb string, collection ttl.Collection) explain.Operation {
	return explain.Operation{
		Verb: verb, Noun: "expiry policy of collection", Name: collection.String(),
		Path: path.Root("deduplication"),
		Remedies: map[codes.Code]string{
			codes.PermissionDenied: fmt.Sprintf("Grant the caller roles/datastore.indexAdmin on project %s, or set deduplication.manage_ttl "+
				"= false and set the policy on field %s elsewhere.", collection.Project, ttl.Field),
			codes.NotFound: fmt.Sprintf("Create the database %s in project %s first, for example with google_firestore_database, and let "+
				"this job depend on it; or name another one in deduplication.store.", collection.Database, collection.Project),
			codes.FailedPrecondition: fmt.Sprintf("The database may not take a policy on field %s: a collection group has one at most. Set "+
				"deduplication.manage_ttl = false if another one is meant to stay.", ttl.Field),
		},
	}
}

func importRemedy(name jobs.Name) string {
	return fmt.Sprintf("A job of this name is there already. To manage it here, import it (put the resource's own address after `to`):\n\n"+
		"import {\n  to = %s.%s\n  id = %q\n}", TypeName, label(name.Job), name.String())
}

// label is a job's name as a Terraform identifier.
func label(name string) string {
	if name[0] >= '0' && name[0] <= '9' {
		return "job_" + name
	}
	return name
}

func permissionRemedy(name jobs.Name, account string) string {
	remedy := fmt.Sprintf("Three things cause this: the caller lacks roles/cloudscheduler.admin on project %s; ", name.Project)
	if account != "" {
		remedy += fmt.Sprintf("or it may not act as %s (grant it roles/iam.serviceAccountUser on that account); ", account)
	} else {
		remedy += "or it may not act as the token's service account (roles/iam.serviceAccountUser); "
	}
	return remedy + fmt.Sprintf("or Cloud Scheduler is not offered in region %s (`gcloud scheduler locations list`).", name.Region)
}

// serviceAccount is the account of the target's token, "" if there is none.
func (m model) serviceAccount() string {
	job := m.toAPI(&diag.Diagnostics{})
	if account := job.GetHttpTarget().GetOidcToken().GetServiceAccountEmail(); account != "" {
		return account
	}
	return job.GetHttpTarget().GetOauthToken().GetServiceAccountEmail()
}

// attributeOf maps the server's field names, and what is known of its messages, to attributes.
func attributeOf(field, message string) (path.Path, bool) {
	field = strings.TrimPrefix(field, "job.")
	switch root, rest, _ := strings.Cut(field, "."); root {
	case "schedule", "time_zone", "description", "attempt_deadline", "name":
		return path.Root(root), true
	case "http_target", "app_engine_http_target", "retry_config":
		at := path.Root(root).AtListIndex(0)
		if rest != "" {
			at = at.AtName(strings.Split(rest, ".")[0])
		}
		return at, true
	}
	if strings.Contains(message, "Schedule or time zone") {
		return path.Root("schedule"), true
	}
	return path.Empty(), false
}
