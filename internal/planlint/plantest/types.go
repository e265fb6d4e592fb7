package plantest

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The attributes that are no text, by name: Plan needs no types, a real tool does.
func flags() []string {
	return []string{"paused", "manage_ttl", "renew_lease", "at_most_once", "wait", "invoker_iam_disabled", "deletion_protection", "trigger_http"}
}

func numbers() []string {
	return []string{"retry_count", "max_doublings", "max_attempts", "timeout_seconds", "length"}
}

func textMaps() []string {
	return []string{"headers", "headers_wo", "annotations", "accepted_risks", "handler_files", "files", "attributes"}
}

func textLists() []string { return []string{"custom_audiences", "jobs", "members", "indexes"} }

// typed is a block as the plugin framework declares it.
func typed(b *block) (map[string]schema.Attribute, map[string]schema.Block) {
	attributes, blocks := map[string]schema.Attribute{}, map[string]schema.Block{}
	for name, a := range b.attributes {
		attributes[name] = a.typed(name)
	}
	for name, inner := range b.blocks {
		nested := schema.NestedBlockObject{}
		nested.Attributes, nested.Blocks = typed(inner)
		if name == "status" { // computed as a whole
			attributes[name] = schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: nested.Attributes}}
			continue
		}
		blocks[name] = schema.ListNestedBlock{NestedObject: nested}
	}
	return attributes, blocks
}

func (a attribute) typed(name string) schema.Attribute {
	computed := a.computed || a.provider || a.fallback != nil
	number, err := strconv.ParseInt(a.text(), 10, 64)
	switch {
	case slices.Contains(flags(), name):
		return schema.BoolAttribute{Optional: true, Computed: computed, PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()}}
	case slices.Contains(numbers(), name), err == nil && a.fallback != nil:
		n := schema.Int64Attribute{Optional: true, Computed: computed, PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}}
		if a.fallback != nil {
			n.Default = int64default.StaticInt64(number)
		}
		return n
	case slices.Contains(textMaps(), name):
		return schema.MapAttribute{Optional: true, Computed: computed, ElementType: types.StringType}
	case slices.Contains(textLists(), name):
		return schema.ListAttribute{Optional: true, Computed: computed, ElementType: types.StringType}
	}
	text := schema.StringAttribute{Optional: true, Computed: computed}
	if computed {
		text.PlanModifiers = append(text.PlanModifiers, stringplanmodifier.UseStateForUnknown())
	}
	if a.fallback != nil {
		text.Default = stringdefault.StaticString(*a.fallback)
	}
	if a.replaces {
		text.PlanModifiers = append(text.PlanModifiers, stringplanmodifier.RequiresReplace())
	}
	return text
}

// text is the attribute's default or computed value.
func (a attribute) text() string {
	if a.fallback != nil {
		return *a.fallback
	}
	return strings.TrimPrefix(a.applied, "#")
}

// literal is text as a value of a type.
func literal(text string, as tftypes.Type) tftypes.Value {
	text = strings.TrimPrefix(text, "#")
	switch {
	case text == "":
		return tftypes.NewValue(as, nil)
	case as.Is(tftypes.Bool):
		return tftypes.NewValue(as, text == "true")
	case as.Is(tftypes.Number):
		n, _, err := big.ParseFloat(text, 10, 64, big.ToNearestEven)
		if err != nil {
			return tftypes.NewValue(as, nil)
		}
		return tftypes.NewValue(as, n)
	case as.Is(tftypes.String):
		return tftypes.NewValue(as, text)
	default:
		return tftypes.NewValue(as, nil)
	}
}
