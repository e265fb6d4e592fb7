package ttl

import (
	"context"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// Ensure sets the policy where it is not set. It does so once per collection and does not wait until old records are covered too,
// which takes the database minutes: a policy that is being created already covers new ones.
func (p *Policies) Ensure(ctx context.Context, collection Collection) error {
	_, err := p.once(flight{collection: collection, write: true}, func() (State, error) {
		switch state, err := p.get(ctx, collection); {
		case state == Ensured, state == NeedsRepair:
			return state, nil
		case err != nil && status.Code(err) != codes.PermissionDenied:
			return "", err
		}
		return p.set(ctx, collection)
	})
	return err
}

// set changes the policy and nothing else of the field: a mask with the index configuration fails on databases in Datastore mode.
func (p *Policies) set(ctx context.Context, collection Collection) (State, error) {
	client, err := p.connect()
	if err != nil {
		return "", err
	}
	return google.Call(ctx, p.timeout, func(ctx context.Context) (State, error) {
		operation, err := client.UpdateField(ctx, &adminpb.UpdateFieldRequest{
			Field:      &adminpb.Field{Name: collection.FieldName(), TtlConfig: &adminpb.Field_TtlConfig{}},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ttl_config"}},
		})
		if err != nil {
			return "", err
		}
		if operation.Done() {
			if _, err := operation.Wait(ctx); err != nil {
				return "", err
			}
		}
		return Ensured, nil
	})
}
