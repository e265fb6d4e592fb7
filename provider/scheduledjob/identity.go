package scheduledjob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// identity is what tells one job from all others.
type identity struct {
	Project types.String `tfsdk:"project"`
	Region  types.String `tfsdk:"region"`
	Name    types.String `tfsdk:"name"`
}

func (m model) identity() identity {
	return identity{Project: m.Project, Region: m.Region, Name: m.Name}
}

// IdentitySchema lays out the identity. Project and region may be left out on import where the provider block names them.
func (*Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"project": identityschema.StringAttribute{OptionalForImport: true, Description: "The project. Unset: the provider's."},
			"region":  identityschema.StringAttribute{OptionalForImport: true, Description: "The region. Unset: the provider's."},
			"name":    identityschema.StringAttribute{RequiredForImport: true, Description: "The job's name."},
		},
	}
}
