package localcloud_test

import (
	"errors"
	"testing"
	"time"

	admin "cloud.google.com/go/firestore/apiv1/admin"
	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

const (
	database  = "projects/acme-prod/databases/(default)"
	runs      = database + "/collectionGroups/scheduler_runs"
	expireAt  = runs + "/fields/expire_at"
	ancestor  = database + "/collectionGroups/__default__/fields/*"
	ttlFilter = "ttlConfig:*"
)

func fieldsClient(t *testing.T, cloud *localcloud.Cloud, rest bool) *admin.FirestoreAdminClient {
	t.Helper()

	open := admin.NewFirestoreAdminClient
	if rest {
		open = admin.NewFirestoreAdminRESTClient
	}

	client, err := open(t.Context(), clientOptions(cloud, rest)...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = client.Close() })

	return client
}

func setTTL(t *testing.T, client *admin.FirestoreAdminClient, field string, ttl *adminpb.Field_TtlConfig) (*admin.UpdateFieldOperation, error) {
	t.Helper()

	return client.UpdateField(limited(t), &adminpb.UpdateFieldRequest{
		Field:      &adminpb.Field{Name: field, TtlConfig: ttl},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ttl_config"}},
	})
}

func TestTTLPolicyIsCreatedAndRemovedByOperations(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := start(t, localcloud.Config{OperationTime: 150 * time.Millisecond})
		client := fieldsClient(t, cloud, rest)

		// A field without settings is no error.
		unset, err := client.GetField(limited(t), &adminpb.GetFieldRequest{Name: expireAt})
		if err != nil {
			t.Fatal(err)
		}

		if unset.GetTtlConfig() != nil || !unset.GetIndexConfig().GetUsesAncestorConfig() ||
			unset.GetIndexConfig().GetAncestorField() != ancestor || len(unset.GetIndexConfig().GetIndexes()) != 3 {
			t.Errorf("unset field: %v", unset)
		}

		op, err := setTTL(t, client, expireAt, &adminpb.Field_TtlConfig{})
		if err != nil {
			t.Fatal(err)
		}

		if op.Done() {
			t.Error("the operation was done at once")
		}

		// The policy covers new writes from the start.
		creating, err := cloud.Field(t.Context(), expireAt)
		if err != nil || creating.GetTtlConfig().GetState() != adminpb.Field_TtlConfig_CREATING {
			t.Errorf("while the operation runs: %v, %v", creating, err)
		}

		_, err = setTTL(t, client, runs+"/fields/other", &adminpb.Field_TtlConfig{})
		refused(t, "concurrent change", err, codes.Aborted, "The operation was aborted because the underlying data changed.")

		done, err := op.Wait(limited(t))
		if err != nil || done.GetTtlConfig().GetState() != adminpb.Field_TtlConfig_ACTIVE {
			t.Errorf("the operation gave %v, %v", done, err)
		}

		meta, err := op.Metadata()
		if err != nil || meta.GetField() != expireAt || meta.GetState() != adminpb.OperationState_SUCCESSFUL {
			t.Errorf("metadata: %v, %v", meta, err)
		}

		again, err := client.GetOperation(limited(t), &longrunningpb.GetOperationRequest{Name: op.Name()})
		if err != nil || !again.GetDone() {
			t.Errorf("operation: %v, %v", again, err)
		}

		_, err = setTTL(t, client, runs+"/fields/other", &adminpb.Field_TtlConfig{})
		refused(t, "second policy", err, codes.FailedPrecondition, "The collection group already has a TTL policy on the field "+expireAt+
			". Only one field per collection group can have one.")

		removal, err := setTTL(t, client, expireAt, nil)
		if err != nil {
			t.Fatal(err)
		}

		gone, err := removal.Wait(limited(t))
		if err != nil || gone.GetTtlConfig() != nil {
			t.Errorf("the removal gave %v, %v", gone, err)
		}
	})
}

func TestMaskedFieldUpdatesLeaveTheRestAlone(t *testing.T) {
	t.Parallel()

	cloud := start(t, localcloud.Config{OperationTime: time.Microsecond})
	client := fieldsClient(t, cloud, false)

	op, err := client.UpdateField(limited(t), &adminpb.UpdateFieldRequest{
		Field:      &adminpb.Field{Name: expireAt, IndexConfig: &adminpb.Field_IndexConfig{}, TtlConfig: &adminpb.Field_TtlConfig{}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"index_config"}},
	})
	if err != nil {
		t.Fatal(err)
	}

	got, err := op.Wait(limited(t))
	if err != nil || got.GetTtlConfig() != nil || got.GetIndexConfig().GetUsesAncestorConfig() || len(got.GetIndexConfig().GetIndexes()) != 0 {
		t.Errorf("exempted field: %v, %v", got, err)
	}

	if _, err := setTTL(t, client, expireAt, &adminpb.Field_TtlConfig{}); err != nil {
		t.Fatal(err)
	}

	got, err = cloud.Field(t.Context(), expireAt)
	if err != nil || got.GetTtlConfig() == nil || len(got.GetIndexConfig().GetIndexes()) != 0 {
		t.Errorf("after the policy was set: %v, %v", got, err)
	}

	last := cloud.Requests()[len(cloud.Requests())-1]
	if last.Method != "UpdateField" || last.Resource != expireAt || !cmp.Equal(last.Mask, []string{"ttl_config"}) {
		t.Errorf("recorded call: %+v", last)
	}
}

func TestListFieldsKnowsTheTwoFilters(t *testing.T) {
	t.Parallel()

	eachTransport(t, func(t *testing.T, rest bool) {
		cloud := start(t, localcloud.Config{})
		client := fieldsClient(t, cloud, rest)

		for field, change := range map[string]func(*adminpb.Field){
			expireAt: func(f *adminpb.Field) {
				f.TtlConfig = &adminpb.Field_TtlConfig{State: adminpb.Field_TtlConfig_NEEDS_REPAIR}
			},
			runs + "/fields/lease_expires":                    func(f *adminpb.Field) { f.IndexConfig = &adminpb.Field_IndexConfig{} },
			database + "/collectionGroups/other/fields/until": func(f *adminpb.Field) { f.TtlConfig = &adminpb.Field_TtlConfig{} },
		} {
			if err := cloud.EditField(field, change); err != nil {
				t.Fatal(err)
			}
		}

		list := func(parent, filter string) ([]string, error) {
			names := []string{}

			for field, err := range client.ListFields(limited(t), &adminpb.ListFieldsRequest{Parent: parent, Filter: filter, PageSize: 1}).All() {
				if err != nil {
					return nil, err
				}

				names = append(names, field.GetName())
			}

			return names, nil
		}

		for _, tc := range []struct {
			parent, filter string
			want           []string
		}{
			{runs, ttlFilter, []string{expireAt}},
			{runs, "indexConfig.usesAncestorConfig:false", []string{runs + "/fields/lease_expires"}},
			{runs, "indexConfig.usesAncestorConfig:false OR ttlConfig:*", []string{expireAt, runs + "/fields/lease_expires"}},
			{database + "/collectionGroups/-", ttlFilter, []string{database + "/collectionGroups/other/fields/until", expireAt}},
			{database + "/collectionGroups/none", ttlFilter, []string{}},
		} {
			got, err := list(tc.parent, tc.filter)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s %s: %v (-want +got):\n%s", tc.parent, tc.filter, err, diff)
			}
		}

		_, err := list(runs, "")
		refused(t, "no filter", err, codes.InvalidArgument,
			`Filter "" is not supported: use indexConfig.usesAncestorConfig:false or ttlConfig:*.`)

		broken, err := client.GetField(limited(t), &adminpb.GetFieldRequest{Name: expireAt})
		if err != nil || broken.GetTtlConfig().GetState() != adminpb.Field_TtlConfig_NEEDS_REPAIR {
			t.Errorf("broken policy: %v, %v", broken, err)
		}
	})
}

func TestBadFieldNamesAndOperationsAreRefused(t *testing.T) {
	t.Parallel()

	cloud := start(t, localcloud.Config{})
	client := fieldsClient(t, cloud, false)

	_, err := client.GetField(limited(t), &adminpb.GetFieldRequest{Name: "projects/p/databases/d/collectionGroups/c"})
	refused(t, "field name", err, codes.InvalidArgument, `Field name "projects/p/databases/d/collectionGroups/c" must be formatted: `+
		`"projects/<PROJECT_ID>/databases/<DATABASE_ID>/collectionGroups/<COLLECTION_ID>/fields/<FIELD_PATH>".`)

	_, err = client.GetOperation(limited(t), &longrunningpb.GetOperationRequest{Name: database + "/operations/x"})
	refused(t, "operation", err, codes.NotFound, `Operation "`+database+`/operations/x" not found.`)

	if err := cloud.EditField("x", func(*adminpb.Field) {}); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("EditField says %v", err)
	}
}
