package acctest

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Move hands the state of another type, as JSON, to the provider.
func (p Protocol) Move(t *testing.T, typeName, sourceProvider, sourceType string, state []byte) (Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	moved, err := p.MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: sourceProvider, SourceTypeName: sourceType, SourceState: &tfprotov6.RawState{JSON: state},
		TargetTypeName: typeName,
	})
	if err != nil {
		t.Fatal(err)
	}
	return Resource{Type: typeName, State: moved.TargetState, Private: moved.TargetPrivate, Identity: moved.TargetIdentity}, moved.Diagnostics
}

// Update plans and applies a change without reading first, as -refresh=false does, and returns what the provider said of it.
func (p Protocol) Update(t *testing.T, r Resource, config Object) (Resource, []*tfprotov6.Diagnostic) {
	t.Helper()
	ctx := context.Background()
	plan, err := p.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: r.Type, PriorState: r.State, ProposedNewState: p.Proposed(t, r.Type, r.State, config.Value(t)), Config: config.Value(t), PriorPrivate: r.Private,
		PriorIdentity: r.Identity,
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
		TypeName: r.Type, PriorState: r.State, PlannedState: plan.PlannedState, Config: config.Value(t), PlannedPrivate: plan.PlannedPrivate,
		PlannedIdentity: plan.PlannedIdentity,
	})
	if err != nil {
		t.Fatal(err)
	}
	next := Resource{Type: r.Type, State: applied.NewState, Private: applied.Private, Identity: applied.NewIdentity}
	return next, append(plan.Diagnostics, applied.Diagnostics...)
}

// Decode is the resource's state.
func (p Protocol) Decode(t *testing.T, r Resource) tftypes.Value {
	t.Helper()
	value, err := r.State.Unmarshal(p.schema(t, r.Type).ValueType())
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (p Protocol) schema(t *testing.T, typeName string) *tfprotov6.Schema {
	t.Helper()
	schemas, err := p.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return schemas.ResourceSchemas[typeName]
}

// Proposed is what a tool proposes for a configuration: what it leaves to the provider is as it was before.
func (p Protocol) Proposed(t *testing.T, typeName string, before, config *tfprotov6.DynamicValue) *tfprotov6.DynamicValue {
	t.Helper()
	schema := p.schema(t, typeName)
	was, err := before.Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	written, err := config.Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	value := merge(t, schema.Block, was, written)
	dynamic, err := tfprotov6.NewDynamicValue(schema.ValueType(), value)
	if err != nil {
		t.Fatal(err)
	}
	return &dynamic
}

func merge(t *testing.T, block *tfprotov6.SchemaBlock, prior, config tftypes.Value) tftypes.Value {
	t.Helper()
	if config.IsNull() || prior.IsNull() {
		return config
	}
	var before, now map[string]tftypes.Value
	if err := prior.As(&before); err != nil {
		t.Fatal(err)
	}
	if err := config.As(&now); err != nil {
		t.Fatal(err)
	}
	for _, attribute := range block.Attributes {
		if attribute.Computed && now[attribute.Name].IsNull() {
			now[attribute.Name] = before[attribute.Name]
		}
	}
	for _, nested := range block.BlockTypes {
		if nested.Nesting != tfprotov6.SchemaNestedBlockNestingModeList {
			continue
		}
		var was, is []tftypes.Value
		if err := before[nested.TypeName].As(&was); err != nil {
			t.Fatal(err)
		}
		if err := now[nested.TypeName].As(&is); err != nil {
			t.Fatal(err)
		}
		for i := range min(len(was), len(is)) {
			is[i] = merge(t, nested.Block, was[i], is[i])
		}
		now[nested.TypeName] = tftypes.NewValue(now[nested.TypeName].Type(), is)
	}
	return tftypes.NewValue(config.Type(), now)
}
