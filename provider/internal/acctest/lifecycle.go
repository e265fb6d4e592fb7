package acctest

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// Start starts a local cloud and a provider that is configured for it. No command line tool is needed.
func Start(t *testing.T) (Protocol, *localcloud.Cloud) {
	t.Helper()
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close the local cloud: %v", err)
		}
	})
	protocol := NewProtocol(t)
	if diagnostics := protocol.Configure(t, Object{
		"project": Project, "region": Region, "cloud_scheduler_custom_endpoint": cloud.URL(), "firestore_custom_endpoint": cloud.URL(),
	}); len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	return protocol, cloud
}

// Resource is a resource as the protocol hands it from one call to the next.
type Resource struct {
	Type     string
	State    *tfprotov6.DynamicValue
	Private  []byte
	Identity *tfprotov6.ResourceIdentityData
}

// Plan is what the provider says of a plan that creates the resource.
func (p Protocol) Plan(t *testing.T, typeName string, config Object) []*tfprotov6.Diagnostic {
	t.Helper()
	plan, err := p.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: &tfprotov6.DynamicValue{JSON: []byte("null")}, ProposedNewState: config.Value(t), Config: config.Value(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Diagnostics
}

// Create plans and applies a resource that is not there yet, and returns what the provider said of it.
func (p Protocol) Create(t *testing.T, typeName string, config Object) (Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	ctx, nothing := context.Background(), &tfprotov6.DynamicValue{JSON: []byte("null")}
	plan, err := p.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: nothing, ProposedNewState: config.Value(t), Config: config.Value(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range plan.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return Resource{}, plan.Diagnostics
		}
	}
	applied, err := p.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: nothing, PlannedState: plan.PlannedState, Config: config.Value(t), PlannedPrivate: plan.PlannedPrivate,
	})
	if err != nil {
		t.Fatal(err)
	}
	return Resource{Type: typeName, State: applied.NewState, Private: applied.Private, Identity: applied.NewIdentity}, applied.Diagnostics
}

// Read refreshes a resource.
func (p Protocol) Read(t *testing.T, r Resource) (Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	read, err := p.ReadResource(context.Background(), &tfprotov6.ReadResourceRequest{
		TypeName: r.Type, CurrentState: r.State, Private: r.Private, CurrentIdentity: r.Identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	return Resource{Type: r.Type, State: read.NewState, Private: read.Private, Identity: read.NewIdentity}, read.Diagnostics
}

// PlanDestroy is what the provider says of a plan that destroys the resource.
func (p Protocol) PlanDestroy(t *testing.T, r Resource) []*tfprotov6.Diagnostic {
	t.Helper()
	nothing := &tfprotov6.DynamicValue{JSON: []byte("null")}
	plan, err := p.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: r.Type, PriorState: r.State, ProposedNewState: nothing, Config: nothing, PriorPrivate: r.Private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Diagnostics
}

// ImportByIdentity imports a resource by its identity, which command line tools before Terraform 1.12 cannot, and reads it.
func (p Protocol) ImportByIdentity(t *testing.T, typeName string, identity Object) (Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	imported, err := p.ImportResourceState(context.Background(), &tfprotov6.ImportResourceStateRequest{
		TypeName: typeName, Identity: &tfprotov6.ResourceIdentityData{IdentityData: identity.Value(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imported.Diagnostics) > 0 || len(imported.ImportedResources) != 1 {
		return Resource{}, imported.Diagnostics
	}
	found := imported.ImportedResources[0]
	return p.Read(t, Resource{Type: typeName, State: found.State, Private: found.Private, Identity: found.Identity})
}

// Attribute is a string attribute of the resource's state, "" when it is null.
func (p Protocol) Attribute(t *testing.T, r Resource, attribute string) string {
	t.Helper()
	schemas, err := p.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	state, err := r.State.Unmarshal(schemas.ResourceSchemas[r.Type].ValueType())
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := tftypes.WalkAttributePath(state, tftypes.NewAttributePath().WithAttributeName(attribute))
	if err != nil {
		t.Fatal(err)
	}
	var text *string
	value, _ := found.(tftypes.Value)
	if err := value.As(&text); err != nil {
		t.Fatal(err)
	}
	if text == nil {
		return ""
	}
	return *text
}
