package ttl

import (
	"context"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// Read says what the database holds. It asks once per collection.
func (p *Policies) Read(ctx context.Context, collection Collection) (State, error) {
	return p.once(flight{collection: collection}, func() (State, error) { return p.get(ctx, collection) })
}

func (p *Policies) get(ctx context.Context, collection Collection) (State, error) {
	client, err := p.connect()
	if err != nil {
		return "", err
	}
	field, err := google.Call(ctx, p.timeout, func(ctx context.Context) (*adminpb.Field, error) {
		return client.GetField(ctx, &adminpb.GetFieldRequest{Name: collection.FieldName()})
	})
	if err != nil {
		return "", err
	}
	return stateOf(field), nil
}
