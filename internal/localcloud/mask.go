package localcloud

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// applyMask copies what the mask names from one message into another of the same type; a named field that is unset in from is cleared.
// Paths may use the names of the API description or those of JSON. No paths, or "*": everything.
func applyMask(into, from proto.Message, mask *fieldmaskpb.FieldMask) error {
	paths := mask.GetPaths()
	if len(paths) == 0 || (len(paths) == 1 && paths[0] == "*") {
		proto.Reset(into)
		proto.Merge(into, from)

		return nil
	}

	// Values are taken from a copy, so that the two messages never share any part.
	source := proto.Clone(from).ProtoReflect()

	for _, path := range paths {
		err := copyPath(into.ProtoReflect(), source, strings.Split(path, "."))
		if err != nil {
			return status.Errorf(codes.InvalidArgument, "Update mask path %q is invalid: %s.", path, err)
		}
	}

	return nil
}

type maskError string

func (e maskError) Error() string { return string(e) }

func copyPath(into, from protoreflect.Message, path []string) error {
	fields := into.Descriptor().Fields()

	field := fields.ByName(protoreflect.Name(path[0]))
	if field == nil {
		field = fields.ByJSONName(path[0])
	}

	if field == nil {
		return maskError("there is no field " + path[0])
	}

	if len(path) == 1 {
		if from.Has(field) {
			into.Set(field, from.Get(field))
		} else {
			into.Clear(field)
		}

		return nil
	}

	if field.Message() == nil || field.IsMap() || field.IsList() {
		return maskError(path[0] + " has no fields of its own")
	}

	// Clearing something inside a message that is not there must not bring the message into being.
	if !from.Has(field) && !into.Has(field) {
		return copyPath(into.NewField(field).Message(), from.Get(field).Message(), path[1:])
	}

	return copyPath(into.Mutable(field).Message(), from.Get(field).Message(), path[1:])
}
