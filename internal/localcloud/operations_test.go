package localcloud_test

import (
	"testing"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestOperationsAreWaitedForListedAndForgotten(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := start(t, localcloud.Config{OperationTime: 100 * time.Millisecond})
		client := fieldsClient(t, cloud, rest)

		op, err := setTTL(t, client, expireAt, &adminpb.Field_TtlConfig{})
		if err != nil {
			t.Fatal(err)
		}

		if err := client.CancelOperation(limited(t), &longrunningpb.CancelOperationRequest{Name: op.Name()}); err != nil {
			t.Errorf("cancel: %v", err)
		}

		var listed []string

		for one, err := range client.ListOperations(limited(t), &longrunningpb.ListOperationsRequest{Name: database}).All() {
			if err != nil {
				t.Fatal(err)
			}

			listed = append(listed, one.GetName())
		}

		if len(listed) != 1 || listed[0] != op.Name() {
			t.Errorf("operations: %v, want %s", listed, op.Name())
		}

		// WaitOperation exists over gRPC alone; it waits for the end or for as long as it is asked to.
		conn, err := grpc.NewClient(cloud.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()

		waiter := longrunningpb.NewOperationsClient(conn)

		_, err = waiter.WaitOperation(limited(t), &longrunningpb.WaitOperationRequest{
			Name: op.Name(), Timeout: durationpb.New(time.Microsecond),
		})
		if err != nil {
			t.Errorf("short wait: %v", err)
		}

		done, err := waiter.WaitOperation(limited(t), &longrunningpb.WaitOperationRequest{Name: op.Name()})
		if err != nil || !done.GetDone() {
			t.Errorf("wait: %v, %v", done, err)
		}

		if err := client.DeleteOperation(limited(t), &longrunningpb.DeleteOperationRequest{Name: op.Name()}); err != nil {
			t.Fatal(err)
		}

		err = client.DeleteOperation(limited(t), &longrunningpb.DeleteOperationRequest{Name: op.Name()})
		refused(t, "delete again", err, codes.NotFound, `Operation "`+op.Name()+`" not found.`)

		_, err = waiter.WaitOperation(limited(t), &longrunningpb.WaitOperationRequest{Name: op.Name()})
		if status.Code(err) != codes.NotFound {
			t.Errorf("wait for a forgotten operation: %v", err)
		}

		// What the operation did stays done.
		field, err := cloud.Field(t.Context(), expireAt)
		if err != nil || field.GetTtlConfig().GetState() != adminpb.Field_TtlConfig_ACTIVE {
			t.Errorf("field: %v, %v", field, err)
		}
	})
}
