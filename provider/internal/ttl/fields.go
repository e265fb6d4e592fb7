package ttl

import (
	"context"
	"errors"
	"slices"
	"strings"

	admin "cloud.google.com/go/firestore/apiv1/admin"
	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// Settings are the field settings of a collection that claims are kept in.
type Settings struct {
	// Field carries the expiry policy; a collection group has one at most. Empty: none does.
	Field string
	// Policy is the policy's state as the database calls it: CREATING, ACTIVE or NEEDS_REPAIR. Empty: there is none.
	Policy string
	// Exempt are the fields that no single-field index covers, sorted.
	Exempt []string
}

// overridden asks for the fields that have settings of their own: these alone can be listed.
const overridden = "indexConfig.usesAncestorConfig=false OR ttlConfig:*"

// Inspect reads the settings, anew at each call.
func (p *Policies) Inspect(ctx context.Context, collection Collection) (Settings, error) {
	client, err := p.connect()
	if err != nil {
		return Settings{}, err
	}
	fields, err := google.Call(ctx, p.timeout, func(ctx context.Context) ([]*adminpb.Field, error) {
		var fields []*adminpb.Field
		found := client.ListFields(ctx, &adminpb.ListFieldsRequest{Parent: collection.GroupName(), Filter: overridden})
		for {
			field, err := found.Next()
			if errors.Is(err, iterator.Done) {
				return fields, nil
			}
			if err != nil {
				return nil, err
			}
			fields = append(fields, field)
		}
	})
	if err != nil {
		return Settings{}, err
	}
	var settings Settings
	for _, field := range fields {
		_, name, _ := strings.Cut(field.GetName(), "/fields/")
		if field.GetTtlConfig() != nil {
			settings.Field, settings.Policy = name, field.GetTtlConfig().GetState().String()
		}
		if index := field.GetIndexConfig(); index != nil && !index.GetUsesAncestorConfig() && len(index.GetIndexes()) == 0 {
			settings.Exempt = append(settings.Exempt, name)
		}
	}
	slices.Sort(settings.Exempt)
	return settings, nil
}

// SetPolicy sets the expiry policy on its field. It does not wait until old records are covered too: a policy that is being created
// already covers new ones.
func (p *Policies) SetPolicy(ctx context.Context, collection Collection) error {
	_, err := p.set(ctx, collection)
	return err
}

// RemovePolicy takes the expiry policy away. Claims then stay for ever.
func (p *Policies) RemovePolicy(ctx context.Context, collection Collection) error {
	return p.update(ctx, &adminpb.Field{Name: collection.FieldName()}, "ttl_config")
}

// Exempt takes a field out of the single-field indexes, and waits until that is done: a database changes one field of a collection
// group at a time.
func (p *Policies) Exempt(ctx context.Context, collection Collection, field string) error {
	return p.update(ctx, &adminpb.Field{
		Name: collection.GroupName() + "/fields/" + field, IndexConfig: &adminpb.Field_IndexConfig{},
	}, "index_config")
}

// Include puts a field back under the indexes that fields without settings have, and waits until that is done.
func (p *Policies) Include(ctx context.Context, collection Collection, field string) error {
	return p.update(ctx, &adminpb.Field{Name: collection.GroupName() + "/fields/" + field}, "index_config")
}

// update changes one part of a field and waits for the end of the change.
func (p *Policies) update(ctx context.Context, field *adminpb.Field, mask string) error {
	client, err := p.connect()
	if err != nil {
		return err
	}
	operation, err := google.Call(ctx, p.timeout, func(ctx context.Context) (*admin.UpdateFieldOperation, error) {
		return client.UpdateField(ctx, &adminpb.UpdateFieldRequest{
			Field: field, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{mask}},
		})
	})
	if err != nil {
		return err
	}
	_, err = operation.Wait(ctx)
	return err
}
