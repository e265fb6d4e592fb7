package runstore

import (
	"context"
	"fmt"

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
	if req.ProviderData == nil {
		return
	}
	cloud, ok := req.ProviderData.(*access.Access)
	if !ok {
		resp.Diagnostics.AddError("Provider and resource disagree",
			fmt.Sprintf("The resource got %T from its provider. This is a bug of the provider; please report it.", req.ProviderData))
		return
	}
	r.cloud = cloud
}
