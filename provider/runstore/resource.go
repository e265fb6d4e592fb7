package runstore

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/access"
)

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
)

// TypeName is the type as configurations write it.
const TypeName = "idempotent_run_store"

// Resource is the type idempotent_run_store.
type Resource struct{ cloud *access.Access }

// New is the resource, not yet configured.
func New() resource.Resource { return &Resource{} }

// Metadata names the type.
func (*Resource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName
}

// Configure takes over the provider's connections. Terraform calls it without them while it validates.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.cloud = access.Of(req.ProviderData, &resp.Diagnostics)
}
