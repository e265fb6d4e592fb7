// Package provider is the Terraform face of the project: the provider idempotent-jobs/idempotent, its resources and functions. Each
// object is a package of its own; no domain rule lives here.
package provider

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/functions"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/handler"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/access"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/quick"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/livejob"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/runstore"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

var _ provider.ProviderWithFunctions = (*Provider)(nil)

// Provider is the provider idempotent.
type Provider struct {
	version string
	getenv  func(string) string
	cloud   atomic.Pointer[access.Access] // nil before Configure
}

// New makes the provider of a version, "" or "dev" for a build from source. Each call of the result is a provider of its own.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &Provider{version: version, getenv: os.Getenv} }
}

// Server is the provider of a version behind the plugin protocol. Each call makes a provider of its own.
func Server(version string) tfprotov6.ProviderServer {
	p := &Provider{version: version, getenv: os.Getenv}
	served := providerserver.NewProtocol6(p)()
	framework, ok := served.(quick.Framework)
	if !ok {
		return served
	}
	return &quick.Server{Framework: framework, Types: map[string]quick.Type{scheduledjob.TypeName: scheduledjob.NewQuick(p.cloud.Load)}}
}

// Metadata names the provider.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "idempotent", p.version
}

// Configure reads the provider block. Nothing is opened and no credentials are read before the first request.
func (p *Provider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings, unknown := config.settings(p.getenv, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	settings.UserAgent = "terraform-provider-idempotent/" + p.version
	cloud := access.New(settings, p.release(), unknown)
	p.cloud.Store(cloud)
	resp.ResourceData, resp.DataSourceData, resp.ListResourceData = cloud, cloud, cloud
}

// release is the version that generated handlers ask for, "" when this build has none that can be downloaded.
func (p *Provider) release() string {
	if p.version == "" || p.version == "dev" {
		return ""
	}
	return "v" + p.version
}

// Resources are the types that the provider manages.
func (*Provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{scheduledjob.New, handler.New, runstore.New}
}

// DataSources are the types that the provider reads.
func (*Provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{livejob.New}
}

// Functions are the pure functions of the provider.
func (*Provider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{functions.NewRunID, functions.NewNextRuns, functions.NewUnixCron}
}
