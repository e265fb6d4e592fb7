package livejob

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/access"
)

var (
	_ datasource.DataSourceWithConfigure      = (*DataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*DataSource)(nil)
)

// TypeName is the type as configurations write it.
const TypeName = "idempotent_scheduled_job"

// DataSource is the data source idempotent_scheduled_job.
type DataSource struct{ cloud *access.Access }

// New is the data source, not yet configured.
func New() datasource.DataSource { return &DataSource{} }

// Metadata names the type.
func (*DataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = TypeName
}

// Configure takes over the provider's connections. Terraform calls it without them while it validates.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.cloud = access.Of(req.ProviderData, &resp.Diagnostics)
}
