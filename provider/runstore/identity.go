package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"
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

// IdentitySchema lays out the identity. What is left out on import has the defaults of the resource.
func (*Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"project":    identityschema.StringAttribute{OptionalForImport: true, Description: "The project. Unset: the provider's."},
			"database":   identityschema.StringAttribute{OptionalForImport: true, Description: "The database. Unset: (default)."},
			"collection": identityschema.StringAttribute{RequiredForImport: true, Description: "The collection."},
		},
	}
}
