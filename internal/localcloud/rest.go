package localcloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/vanguard"
	"connectrpc.com/vanguard/vanguardgrpc"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// newTranscoder turns REST calls into gRPC calls by the annotations of the APIs. It is the only place that knows the transcoding
// library. Unset fields are left out of answers and unknown ones refused in requests, as Google does.
func newTranscoder(server *grpc.Server, unknown http.Handler) (http.Handler, error) {
	transcoder, err := vanguardgrpc.NewTranscoder(server,
		vanguard.WithCodec(func(types vanguard.TypeResolver) vanguard.Codec {
			return restCodec{JSONCodec: vanguard.JSONCodec{
				MarshalOptions:   protojson.MarshalOptions{Resolver: types},
				UnmarshalOptions: protojson.UnmarshalOptions{Resolver: types},
			}}
		}),
		vanguard.WithUnknownHandler(unknown),
		vanguard.WithRules(operationRules()...),
	)
	if err != nil {
		return nil, fmt.Errorf("derive REST from the annotations: %w", err)
	}

	return transcoder, nil
}

// restCodec is the JSON codec with the error that a client deserves for what it cannot read: its own fault, not the server's.
type restCodec struct{ vanguard.JSONCodec }

func (c restCodec) Unmarshal(data []byte, msg proto.Message) error {
	return invalidJSON(c.JSONCodec.Unmarshal(withoutNulls(data), msg))
}

func (c restCodec) UnmarshalField(data []byte, msg proto.Message, field protoreflect.FieldDescriptor) error {
	return invalidJSON(c.JSONCodec.UnmarshalField(data, msg, field))
}

// withoutNulls leaves members out whose value is null. It means unset, which the library refuses in maps; gcloud removes a header so.
func withoutNulls(data []byte) []byte {
	if !bytes.Contains(data, []byte("null")) {
		return data
	}

	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()

	var value any

	err := decoder.Decode(&value)
	if err != nil {
		return data // the library says what is wrong with it
	}

	out, err := json.Marshal(pruned(value))
	if err != nil {
		return data
	}

	return out
}

func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if member == nil {
				delete(value, name)

				continue
			}

			value[name] = pruned(member)
		}
	case []any:
		for i, element := range value {
			value[i] = pruned(element)
		}
	}

	return value
}

func invalidJSON(err error) error {
	if err == nil {
		return nil
	}

	// The library marks its messages with a prefix and, so that nobody compares them, a space that varies.
	reason := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")

	return connect.NewError(connect.CodeInvalidArgument, errors.New("Invalid JSON payload received: "+reason))
}

// operationRules are the paths of long-running operations of Firestore, which its service configuration sets and no annotation has.
func operationRules() []*annotations.HttpRule {
	const (
		selector = "google.longrunning.Operations."
		one      = "/v1/{name=projects/*/databases/*/operations/*}"
	)

	return []*annotations.HttpRule{
		{Selector: selector + "GetOperation", Pattern: &annotations.HttpRule_Get{Get: one}},
		{Selector: selector + "DeleteOperation", Pattern: &annotations.HttpRule_Delete{Delete: one}},
		{Selector: selector + "CancelOperation", Pattern: &annotations.HttpRule_Post{Post: one + ":cancel"}, Body: "*"},
		{
			Selector: selector + "ListOperations",
			Pattern:  &annotations.HttpRule_Get{Get: "/v1/{name=projects/*/databases/*}/operations"},
		},
	}
}

// asGoogleRefuses puts what the library refuses by itself into the code and the words of Google's front end; all else stays.
func asGoogleRefuses(r *http.Request, status int, code codes.Code, message string) (int, codes.Code, string) {
	const unknownField = `unknown field in field path "`

	unknown, isUnknown := strings.CutPrefix(message, unknownField)

	switch {
	case status == http.StatusMethodNotAllowed:
		return http.StatusNotFound, codes.NotFound, notServedHere(r)
	case isUnknown:
		name, _, _ := strings.Cut(unknown, `"`)

		return http.StatusBadRequest, codes.InvalidArgument, fmt.Sprintf("Invalid JSON payload received. Unknown name %q: "+
			"Cannot bind query parameter. Field '%s' could not be found in request message.", name, name)
	case message == (&http.MaxBytesError{}).Error():
		return http.StatusBadRequest, codes.InvalidArgument, fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", largestRequest)
	default:
		return status, code, message
	}
}
