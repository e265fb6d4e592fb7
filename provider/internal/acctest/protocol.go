package acctest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// Protocol is the provider behind the plugin protocol, without a command line tool: for what a tool would only slow down or is too
// old for.
type Protocol struct{ tfprotov6.ProviderServer }

// NewProtocol is a provider that is not configured.
func NewProtocol(t testing.TB) Protocol {
	t.Helper()
	return Protocol{provider.Server("dev")}
}

// Object is a configuration as JSON would write it; what it leaves out is null.
type Object map[string]any

// Value is the object as the protocol carries it.
func (o Object) Value(t testing.TB) *tfprotov6.DynamicValue {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return &tfprotov6.DynamicValue{JSON: text}
}

// Sent is the object as a tool sends it: a block that is not there is an empty list.
func (p Protocol) Sent(t testing.TB, typeName string, config Object) *tfprotov6.DynamicValue {
	t.Helper()
	schemas, err := p.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	schema := schemas.ResourceSchemas[typeName]
	written, err := config.Value(t).Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	sent, err := tfprotov6.NewDynamicValue(schema.ValueType(), withoutNullBlocks(t, schema.Block, written))
	if err != nil {
		t.Fatal(err)
	}
	return &sent
}

func withoutNullBlocks(t testing.TB, block *tfprotov6.SchemaBlock, value tftypes.Value) tftypes.Value {
	t.Helper()
	var attributes map[string]tftypes.Value
	if err := value.As(&attributes); err != nil {
		t.Fatal(err)
	}
	for _, nested := range block.BlockTypes {
		list := attributes[nested.TypeName]
		if nested.Nesting != tfprotov6.SchemaNestedBlockNestingModeList || !list.IsKnown() {
			continue
		}
		var blocks []tftypes.Value
		if err := list.As(&blocks); err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			blocks[i] = withoutNullBlocks(t, nested.Block, blocks[i])
		}
		if blocks == nil {
			blocks = []tftypes.Value{}
		}
		attributes[nested.TypeName] = tftypes.NewValue(list.Type(), blocks)
	}
	return tftypes.NewValue(value.Type(), attributes)
}

// ValidateResource is what the provider says of a resource's configuration.
func (p Protocol) ValidateResource(t testing.TB, typeName string, config Object) []*tfprotov6.Diagnostic {
	t.Helper()
	resp, err := p.ValidateResourceConfig(context.Background(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeName, Config: config.Value(t),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}

// Configure hands the provider block to the provider.
func (p Protocol) Configure(t testing.TB, config Object) []*tfprotov6.Diagnostic {
	t.Helper()
	resp, err := p.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{Config: config.Value(t)})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}

// Text is a diagnostic as a table of refused values writes it: its attribute, its summary and its detail, a line each.
func Text(d *tfprotov6.Diagnostic) string {
	at := ""
	if d.Attribute != nil {
		at = d.Attribute.String()
	}
	return at + "\n" + d.Summary + "\n" + d.Detail
}
