package runstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/identities"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/ttl"
)

// ImportState takes over a collection by its full name, its URL, project/database/collection, database/collection or collection, or
// by identity. Its settings are read next.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	at := ttl.Collection{Project: r.cloud.Settings.Project, Database: defaultDatabase}
	if req.ID != "" {
		parsed, ok := parseID(req.ID, at)
		if !ok {
			resp.Diagnostics.AddError("Unable to import run store", fmt.Sprintf("The id %q is none of projects/PROJECT/databases/DATABASE/"+
				"collectionGroups/COLLECTION, firestore://PROJECT/DATABASE/COLLECTION, PROJECT/DATABASE/COLLECTION, DATABASE/COLLECTION and "+
				"COLLECTION.", req.ID))
			return
		}
		at = parsed
	} else {
		var given identity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &given)...)
		at.Project = identities.Or(given.Project, at.Project)
		at.Database = identities.Or(given.Database, at.Database)
		at.Group = given.Collection.ValueString()
	}
	if at.Project == "" {
		resp.Diagnostics.AddError("Unable to import run store",
			"Neither the id nor the provider block names a project. Put it into the id: PROJECT/DATABASE/COLLECTION.")
	}
	if resp.Diagnostics.HasError() {
		return
	}
	imported := model{
		Project: types.StringValue(at.Project), Database: types.StringValue(at.Database), Collection: types.StringValue(at.Group),
	}
	for attribute, value := range map[string]types.String{
		"project": imported.Project, "database": imported.Database, "collection": imported.Collection,
		"deletion_policy": types.StringValue(deletionAbandon),
	} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(attribute), value)...)
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("index_exemptions"), true)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, imported.identity())...)
}

// parseID reads an id; what it leaves out is as in the fallback.
func parseID(id string, fallback ttl.Collection) (ttl.Collection, bool) {
	if at, ok := ttl.ParseStore(id); ok {
		return at, true
	}
	parts := strings.Split(id, "/")
	if len(parts) == 6 && parts[0] == "projects" && parts[2] == "databases" && parts[4] == "collectionGroups" {
		parts = []string{parts[1], parts[3], parts[5]}
	}
	at := fallback
	switch len(parts) {
	case 1:
		at.Group = parts[0]
	case 2:
		at.Database, at.Group = parts[0], parts[1]
	case 3:
		at.Project, at.Database, at.Group = parts[0], parts[1], parts[2]
	default:
		return ttl.Collection{}, false
	}
	return at, databasePattern.MatchString(at.Database) && collectionPattern.MatchString(at.Group)
}
