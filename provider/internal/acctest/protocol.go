package acctest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// Protocol is the provider behind the plugin protocol, without a command line tool: for what a tool would only slow down or is too
// old for.
type Protocol struct{ tfprotov6.ProviderServer }

// NewProtocol is a provider that is not configured.
func NewProtocol(t testing.TB) Protocol {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("dev")())()
	if err != nil {
		t.Fatal(err)
	}
	return Protocol{server}
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
