package localcloud

import (
	"context"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// operation is a change of a field that takes its time. It needs no goroutine: what it is worth is read off the clock.
type operation struct {
	name   string
	field  string
	meta   *adminpb.FieldOperationMetadata
	ends   time.Time
	result *adminpb.Field
}

func (o *operation) done(now time.Time) bool { return !now.Before(o.ends) }

// message is the operation as the API shows it.
func (o *operation) message(now time.Time) (*longrunningpb.Operation, error) {
	meta, _ := proto.Clone(o.meta).(*adminpb.FieldOperationMetadata)
	meta.State = adminpb.OperationState_PROCESSING

	if o.done(now) {
		meta.State = adminpb.OperationState_SUCCESSFUL
		meta.EndTime = timestamppb.New(o.ends)
	}

	packed, err := anypb.New(meta)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "pack the metadata: %v", err)
	}

	op := &longrunningpb.Operation{Name: o.name, Metadata: packed}

	if o.done(now) {
		result, packErr := anypb.New(o.result)
		if packErr != nil {
			return nil, status.Errorf(codes.Internal, "pack the response: %v", packErr)
		}

		op.Done = true
		op.Result = &longrunningpb.Operation_Response{Response: result}
	}

	return op, nil
}

// operationsAPI serves google.longrunning.Operations for Firestore.
type operationsAPI struct {
	longrunningpb.UnimplementedOperationsServer

	fields *fields
}

func (a *operationsAPI) GetOperation(_ context.Context, req *longrunningpb.GetOperationRequest) (*longrunningpb.Operation, error) {
	op, err := a.fields.operation(req.GetName())
	if err != nil {
		return nil, err
	}

	return op.message(time.Now())
}

func (a *operationsAPI) WaitOperation(ctx context.Context, req *longrunningpb.WaitOperationRequest) (*longrunningpb.Operation, error) {
	op, err := a.fields.operation(req.GetName())
	if err != nil {
		return nil, err
	}

	wait := time.Until(op.ends)
	if limit := req.GetTimeout(); limit != nil {
		wait = min(wait, limit.AsDuration())
	}

	err = sleep(ctx, wait)
	if err != nil {
		return nil, status.FromContextError(err).Err()
	}

	return op.message(time.Now())
}

func (a *operationsAPI) ListOperations(
	_ context.Context, req *longrunningpb.ListOperationsRequest,
) (*longrunningpb.ListOperationsResponse, error) {
	ops := a.fields.operationsOf(strings.TrimSuffix(req.GetName(), "/operations") + "/operations/")

	names := make([]string, 0, len(ops))
	for name := range ops {
		names = append(names, name)
	}

	slices.Sort(names)

	from, to, next, err := page(req.GetPageSize(), req.GetPageToken(), names)
	if err != nil {
		return nil, err
	}

	resp := &longrunningpb.ListOperationsResponse{NextPageToken: next}

	for _, name := range names[from:to] {
		op, opErr := ops[name].message(time.Now())
		if opErr != nil {
			return nil, opErr
		}

		resp.Operations = append(resp.Operations, op)
	}

	return resp, nil
}

// DeleteOperation forgets an operation; its change stays.
func (a *operationsAPI) DeleteOperation(_ context.Context, req *longrunningpb.DeleteOperationRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, a.fields.forget(req.GetName())
}

// CancelOperation is best effort in the API; here a change is never undone.
func (a *operationsAPI) CancelOperation(_ context.Context, req *longrunningpb.CancelOperationRequest) (*emptypb.Empty, error) {
	_, err := a.fields.operation(req.GetName())

	return &emptypb.Empty{}, err
}
