package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/identities"
)

// identity is what tells one collection from all others.
type identity struct {
	Project    types.String `tfsdk:"project"`
	Database   types.String `tfsdk:"database"`
	Collection types.String `tfsdk:"collection"`
}

func (m model) identity() identity {
	return identity{Project: m.Project, Database: m.Database, Collection: m.Collection}
}

var identityLayout = identities.Layout{
	Required: map[string]string{"collection": "The collection."},
	Optional: map[string]string{"project": "The project. Unset: the provider's.", "database": "The database. Unset: (default)."},
}

// IdentitySchema lays out the identity.
func (*Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityLayout.Schema()
}
