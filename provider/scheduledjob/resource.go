package scheduledjob

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/access"
)

var (
	_ resource.ResourceWithConfigure      = (*Resource)(nil)
	_ resource.ResourceWithValidateConfig = (*Resource)(nil)
	_ resource.ResourceWithModifyPlan     = (*Resource)(nil)
	_ resource.ResourceWithImportState    = (*Resource)(nil)
	_ resource.ResourceWithIdentity       = (*Resource)(nil)
	_ resource.ResourceWithMoveState      = (*Resource)(nil)
)

// TypeName is the type as configurations write it.
const TypeName = "idempotent_scheduled_job"

// Resource is the type idempotent_scheduled_job.
type Resource struct {
	cloud *access.Access
	now   func() time.Time
}

// New is the resource, not yet configured.
func New() resource.Resource { return &Resource{now: time.Now} }

// Metadata names the type.
func (*Resource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName
}

// Configure takes over the provider's connections. Terraform calls it without them while it validates.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.cloud = access.Of(req.ProviderData, &resp.Diagnostics)
}
