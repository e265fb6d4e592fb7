// Package fields moves values between Terraform's objects and structs whose fields carry the tag tfsdk, as the framework's own
// reflection does. The framework walks a struct's tags anew for each value and compiles an expression for each tag; a plan of a
// thousand resources does that a hundred thousand times. Here the tags of a type are read once. Every field holds the framework's own
// value of its attribute, so that nothing is converted.
package fields

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
)

// field is where a struct keeps an attribute.
type field struct {
	attribute string
	index     []int
}

// known holds the fields of each type that was asked for, as []field.
var known sync.Map

func of(layout reflect.Type) []field {
	if found, ok := known.Load(layout); ok {
		return found.([]field) //nolint:forcetypeassert // only of stores here
	}
	var all []field
	for _, f := range reflect.VisibleFields(layout) {
		if attribute, ok := f.Tag.Lookup("tfsdk"); ok {
			all = append(all, field{attribute: attribute, index: f.Index})
		}
	}
	known.Store(layout, all)
	return all
}

// Read fills a struct of type T from the attributes of an object. An attribute that is missing, or of another type than its field, is
// an error: struct and schema disagree.
func Read[T any](attributes map[string]attr.Value) (T, error) {
	var target T
	value := reflect.ValueOf(&target).Elem()
	for _, f := range of(value.Type()) {
		found := reflect.ValueOf(attributes[f.attribute])
		into := value.FieldByIndex(f.index)
		if !found.IsValid() || found.Type() != into.Type() {
			return target, fmt.Errorf("attribute %s is a %T, not a %s", f.attribute, attributes[f.attribute], into.Type())
		}
		into.Set(found)
	}
	return target, nil
}

// Write is the way back: the attributes of an object, from a struct that Read fills.
func Write[T any](source T) map[string]attr.Value {
	value := reflect.ValueOf(&source).Elem()
	all := of(value.Type())
	attributes := make(map[string]attr.Value, len(all))
	for _, f := range all {
		if held, ok := reflect.TypeAssert[attr.Value](value.FieldByIndex(f.index)); ok {
			attributes[f.attribute] = held
		}
	}
	return attributes
}
