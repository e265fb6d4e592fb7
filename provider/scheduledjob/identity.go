package scheduledjob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/identities"
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

var identityLayout = identities.Layout{
	Required: map[string]string{"name": "The job's name."},
	Optional: map[string]string{"project": "The project. Unset: the provider's.", "region": "The region. Unset: the provider's."},
}

// IdentitySchema lays out the identity.
func (*Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityLayout.Schema()
}
