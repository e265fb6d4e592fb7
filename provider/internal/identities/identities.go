// Package identities lays out what tells one object of a type from all others, for the types whose objects have a name within a place.
package identities

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Layout describes the attributes of an identity, all of them text: the one that an import has to give, and those that it may leave
// to the provider block or to a default.
type Layout struct {
	Required map[string]string
	Optional map[string]string
}

// Schema is the layout as the framework wants it.
func (l Layout) Schema() identityschema.Schema {
	attributes := make(map[string]identityschema.Attribute, len(l.Required)+len(l.Optional))
	for name, description := range l.Required {
		attributes[name] = identityschema.StringAttribute{RequiredForImport: true, Description: description}
	}
	for name, description := range l.Optional {
		attributes[name] = identityschema.StringAttribute{OptionalForImport: true, Description: description}
	}
	return identityschema.Schema{Attributes: attributes}
}

// Wire is the layout as the protocol carries it.
func (l Layout) Wire() tftypes.Type {
	attributes := map[string]tftypes.Type{}
	for name := range l.Required {
		attributes[name] = tftypes.String
	}
	for name := range l.Optional {
		attributes[name] = tftypes.String
	}
	return tftypes.Object{AttributeTypes: attributes}
}

// Or is the text that an import gave, else what stands in for it.
func Or(given types.String, otherwise string) string {
	if text := given.ValueString(); text != "" {
		return text
	}
	return otherwise
}
