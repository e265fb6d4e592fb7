package localcloud

import (
	"fmt"
	"net/http"

	"connectrpc.com/vanguard"
	"connectrpc.com/vanguard/vanguardgrpc"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

// newTranscoder turns REST calls into gRPC calls by the annotations of the APIs. It is the only place that knows the transcoding
// library. Unset fields are left out of answers and unknown ones refused in requests, as Google does.
func newTranscoder(server *grpc.Server, unknown http.Handler) (http.Handler, error) {
	transcoder, err := vanguardgrpc.NewTranscoder(server,
		vanguard.WithCodec(func(types vanguard.TypeResolver) vanguard.Codec {
			return &vanguard.JSONCodec{
				MarshalOptions:   protojson.MarshalOptions{Resolver: types},
				UnmarshalOptions: protojson.UnmarshalOptions{Resolver: types},
			}
		}),
		vanguard.WithUnknownHandler(unknown),
		vanguard.WithRules(operationRules()...),
	)
	if err != nil {
		return nil, fmt.Errorf("derive REST from the annotations: %w", err)
	}

	return transcoder, nil
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
