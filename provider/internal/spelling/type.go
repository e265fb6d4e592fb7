package spelling

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	_ basetypes.StringTypable                    = Type{}
	_ basetypes.StringValuableWithSemanticEquals = Value{}
)

// Type is a string attribute whose values are equal when they mean the same.
type Type struct {
	basetypes.StringType

	Kind Kind
}

// Equal says whether o is a Type of the same kind.
func (t Type) Equal(o attr.Type) bool {
	other, ok := o.(Type)
	return ok && other.Kind == t.Kind
}

// String names the type in errors of the framework.
func (t Type) String() string { return fmt.Sprintf("spelling.Type(%d)", t.Kind) }

// ValueType is an empty Value of this kind.
func (t Type) ValueType(context.Context) attr.Value { return Value{kind: t.Kind} }

// ValueFromString wraps a plain string value.
func (t Type) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return Value{StringValue: in, kind: t.Kind}, nil
}

// ValueFromTerraform decodes a value of the protocol.
func (t Type) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	decoded, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("decode string: %w", err)
	}
	text, ok := decoded.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("decode string: got %T", decoded)
	}
	return Value{StringValue: text, kind: t.Kind}, nil
}

// Value is a string that equals another when both mean the same.
type Value struct {
	basetypes.StringValue

	kind Kind
}

// Of is a known value.
func Of(kind Kind, text string) Value {
	return Value{StringValue: basetypes.NewStringValue(text), kind: kind}
}

// Null is an absent value.
func Null(kind Kind) Value { return Value{StringValue: basetypes.NewStringNull(), kind: kind} }

// Unknown is a value to be known after apply.
func Unknown(kind Kind) Value { return Value{StringValue: basetypes.NewStringUnknown(), kind: kind} }

// Type is the Type of the value's kind.
func (v Value) Type(context.Context) attr.Type { return Type{Kind: v.kind} }

// Equal says whether o is letter for letter the same value of the same kind.
func (v Value) Equal(o attr.Value) bool {
	other, ok := o.(Value)
	return ok && other.kind == v.kind && v.StringValue.Equal(other.StringValue)
}

// StringSemanticEquals says whether next means what v means; the framework then keeps v.
func (v Value) StringSemanticEquals(_ context.Context, next basetypes.StringValuable) (bool, diag.Diagnostics) {
	other, ok := next.(Value)
	return ok && v.kind.Same(v.ValueString(), other.ValueString()), nil
}

// From gives a plain value, which may be null or unknown, a kind.
func From(kind Kind, plain basetypes.StringValue) Value { return Value{StringValue: plain, kind: kind} }
