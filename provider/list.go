package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

var _ provider.ProviderWithListResources = (*Provider)(nil)

// ListResources are the types that Terraform 1.14 and later can query.
func (*Provider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{scheduledjob.NewList}
}
