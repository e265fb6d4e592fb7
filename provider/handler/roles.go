package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// role is one grant: least privilege, on the narrowest resource that takes it.
type role struct {
	role, member, resourceType, resource, condition types.String
}

func (r role) object() attr.Value {
	return types.ObjectValueMust(roleTypes(), map[string]attr.Value{
		"role": r.role, "member": r.member, "resource_type": r.resourceType, "resource": r.resource, "condition": r.condition,
	})
}

// roles are the grants by key. The keys follow from what is written, never from what it turns out to be; where they cannot, as with a
// store or a list of callers that is not known as a whole, the map is unknown.
func (m model) roles(ctx context.Context, config model, diags *diag.Diagnostics) types.Map {
	element := types.ObjectType{AttrTypes: roleTypes()}
	if m.Kind.IsUnknown() || config.Store.IsUnknown() || m.Callers.IsUnknown() || m.Forward.IsUnknown() {
		return types.MapUnknown(element)
	}
	grants := map[string]attr.Value{}
	if grant, ok := m.storeRole(); ok && !m.ServiceAccountEmail.IsNull() {
		grant.member = memberOf(m.ServiceAccountEmail)
		grants["store"] = grant.object()
	}
	if jobs, _ := m.forwards(ctx, diags); !m.ServiceAccountEmail.IsNull() {
		for key, grant := range m.starts(jobs) {
			grants[key] = grant.object()
		}
	}
	if invoker := platformOf(m.Kind.ValueString()).invoker; invoker != "" && (m.Caller.IsNull() || m.Caller.ValueString() == callerCloudRunIAM) {
		for i, caller := range elementsOf(m.Callers) {
			if strings.HasPrefix(caller.ValueString(), "*") {
				continue // No member stands for all accounts of a project.
			}
			key := "invoke"
			if i > 0 {
				key = fmt.Sprintf("invoke_%d", i+1)
			}
			grants[key] = role{
				role: types.StringValue(invoker), member: memberOf(caller), resourceType: types.StringValue("cloud_run_service"),
				resource: types.StringNull(), condition: types.StringNull(),
			}.object()
		}
	}
	return types.MapValueMust(element, grants)
}

func memberOf(email types.String) types.String {
	if email.IsUnknown() || email.IsNull() {
		return email
	}
	return types.StringValue("serviceAccount:" + email.ValueString())
}

// storeRole is what the handler needs of its store. False: the store asks for no role.
func (m model) storeRole() (role, bool) {
	if m.Store.IsUnknown() { // the default, of a project that is not known yet
		return role{
			role: types.StringValue(firestoreRole), resourceType: types.StringValue("project"),
			resource: types.StringUnknown(), condition: types.StringUnknown(),
		}, true
	}
	u, err := url.Parse(m.Store.ValueString())
	if err != nil {
		return role{}, false
	}
	switch u.Scheme {
	case "firestore":
		database, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		database = cmp.Or(database, "(default)")
		return role{
			role: types.StringValue(firestoreRole), resourceType: types.StringValue("project"), resource: types.StringValue("projects/" + u.Host),
			condition: types.StringValue(fmt.Sprintf("resource.name == %q", "projects/"+u.Host+"/databases/"+database)),
		}, true
	case "spanner":
		return role{
			role: types.StringValue("roles/spanner.databaseUser"), resourceType: types.StringValue("spanner_database"),
			resource: types.StringValue(u.Host + u.Path), condition: types.StringNull(),
		}, true
	default:
		return role{}, false
	}
}

// firestoreRole reads and writes documents; Firestore takes it on a project only, where a condition names the database.
const firestoreRole = "roles/datastore.user"
