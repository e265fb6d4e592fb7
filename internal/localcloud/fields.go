package localcloud

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

var groupPattern = regexp.MustCompile(`^projects/[A-Za-z0-9:.-]+/databases/(\(default\)|[a-z0-9-]+)/collectionGroups/[^/]+$`)

// defaultFieldSuffix ends the name of the settings that every field without its own inherits.
const defaultFieldSuffix = "/collectionGroups/__default__/fields/*"

// fields holds the single-field settings of Firestore databases; any database exists.
type fields struct {
	adminpb.UnimplementedFirestoreAdminServer

	operationTime time.Duration

	mu         sync.Mutex
	stored     map[string]*adminpb.Field // only what differs from the default
	operations map[string]*operation
}

func newFields(cfg Config) *fields {
	return &fields{
		operationTime: cfg.OperationTime, stored: map[string]*adminpb.Field{}, operations: map[string]*operation{},
	}
}

// groupOf is the collection group of projects/P/databases/D/collectionGroups/C/fields/F.
func groupOf(name string) (string, error) {
	group, path, found := strings.Cut(name, "/fields/")
	if !found || path == "" || !groupPattern.MatchString(group) {
		return "", invalid("Field name %q must be formatted: "+
			`"projects/<PROJECT_ID>/databases/<DATABASE_ID>/collectionGroups/<COLLECTION_ID>/fields/<FIELD_PATH>".`, name)
	}

	return group, nil
}

func databaseOf(group string) string {
	database, _, _ := strings.Cut(group, "/collectionGroups/")

	return database
}

// GetField answers for fields without settings too, with those that they inherit.
func (f *fields) GetField(_ context.Context, req *adminpb.GetFieldRequest) (*adminpb.Field, error) {
	_, err := groupOf(req.GetName())
	if err != nil {
		return nil, err
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	return f.shown(req.GetName(), time.Now()), nil
}

// shown is a field as the API shows it. The caller holds f.mu.
func (f *fields) shown(name string, now time.Time) *adminpb.Field {
	group, _ := groupOf(name)
	ancestor := databaseOf(group) + defaultFieldSuffix

	out := &adminpb.Field{Name: name}
	if stored, found := f.stored[name]; found {
		out, _ = proto.Clone(stored).(*adminpb.Field)
	}

	if out.GetIndexConfig() == nil {
		out.IndexConfig = &adminpb.Field_IndexConfig{
			UsesAncestorConfig: name != ancestor, AncestorField: ancestor, Indexes: defaultIndexes(),
		}
	}

	// A policy is on its way until the operation that sets it has ended.
	if ttl := out.GetTtlConfig(); ttl.GetState() == adminpb.Field_TtlConfig_CREATING && !f.busy(name, now) {
		ttl.State = adminpb.Field_TtlConfig_ACTIVE
	}

	return out
}

// busy says whether an operation on a field or, without /fields/, a collection group is under way. The caller holds f.mu.
func (f *fields) busy(prefix string, now time.Time) bool {
	for _, op := range f.operations {
		if !op.done(now) && (op.field == prefix || strings.HasPrefix(op.field, prefix+"/fields/")) {
			return true
		}
	}

	return false
}

// ListFields lists fields with settings of their own, by the two filters that the API knows and their combination.
func (f *fields) ListFields(_ context.Context, req *adminpb.ListFieldsRequest) (*adminpb.ListFieldsResponse, error) {
	group := req.GetParent()
	if !groupPattern.MatchString(group) {
		return nil, invalid("Parent %q must be formatted: "+
			`"projects/<PROJECT_ID>/databases/<DATABASE_ID>/collectionGroups/<COLLECTION_ID>".`, group)
	}

	wanted, err := parseFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}

	prefix := group + "/fields/"

	f.mu.Lock()
	defer f.mu.Unlock()

	var names []string

	for _, name := range slices.Sorted(maps.Keys(f.stored)) {
		inGroup := strings.HasPrefix(name, prefix)
		if anyGroup, found := strings.CutSuffix(group, "/collectionGroups/-"); found {
			inGroup = strings.HasPrefix(name, anyGroup+"/collectionGroups/")
		}

		if inGroup && wanted(f.stored[name]) {
			names = append(names, name)
		}
	}

	from, to, next, err := page(req.GetPageSize(), req.GetPageToken(), names)
	if err != nil {
		return nil, err
	}

	resp := &adminpb.ListFieldsResponse{NextPageToken: next}
	for _, name := range names[from:to] {
		resp.Fields = append(resp.Fields, f.shown(name, time.Now()))
	}

	return resp, nil
}

func parseFilter(filter string) (func(*adminpb.Field) bool, error) {
	compact := strings.ReplaceAll(filter, " ", "")
	index := func(f *adminpb.Field) bool { return f.GetIndexConfig() != nil }
	ttl := func(f *adminpb.Field) bool { return f.GetTtlConfig() != nil }

	switch {
	case compact == "indexConfig.usesAncestorConfig:false" || compact == "indexConfig.usesAncestorConfig=false":
		return index, nil
	case compact == "ttlConfig:*":
		return ttl, nil
	case strings.Contains(compact, "OR") && strings.Contains(compact, "ttlConfig:*"):
		return func(f *adminpb.Field) bool { return index(f) || ttl(f) }, nil
	default:
		return nil, invalid("Filter %q is not supported: use indexConfig.usesAncestorConfig:false or ttlConfig:*.", filter)
	}
}

// UpdateField changes what the mask names and returns the operation that carries the change out.
func (f *fields) UpdateField(_ context.Context, req *adminpb.UpdateFieldRequest) (*longrunningpb.Operation, error) {
	name := req.GetField().GetName()

	group, err := groupOf(name)
	if err != nil {
		return nil, err
	}

	now := time.Now()

	f.mu.Lock()
	defer f.mu.Unlock()

	if f.busy(group, now) {
		return nil, status.Error(codes.Aborted, "The operation was aborted because the underlying data changed.")
	}

	before := &adminpb.Field{Name: name}
	if stored, found := f.stored[name]; found {
		before = stored
	}

	after, _ := proto.Clone(before).(*adminpb.Field)

	err = applyMask(after, req.GetField(), req.GetUpdateMask())
	if err != nil {
		return nil, err
	}

	after.Name = name

	// An index configuration that says it is inherited is none.
	if after.GetIndexConfig().GetUsesAncestorConfig() {
		after.IndexConfig = nil
	}

	if before.GetTtlConfig() == nil && after.GetTtlConfig() != nil {
		other := f.otherTTL(group, name)
		if other != "" {
			return nil, status.Errorf(codes.FailedPrecondition,
				"The collection group already has a TTL policy on the field %s. Only one field per collection group can have one.", other)
		}

		after.GetTtlConfig().State = adminpb.Field_TtlConfig_CREATING
	} else if after.GetTtlConfig() != nil {
		after.GetTtlConfig().State = before.GetTtlConfig().GetState()
	}

	f.store(after)

	return f.begin(group, before, after, now).message(now)
}

func (f *fields) otherTTL(group, name string) string {
	for other, field := range f.stored {
		if other != name && strings.HasPrefix(other, group+"/fields/") && field.GetTtlConfig() != nil {
			return other
		}
	}

	return ""
}

func (f *fields) store(field *adminpb.Field) {
	if field.GetTtlConfig() == nil && field.GetIndexConfig() == nil {
		delete(f.stored, field.GetName())

		return
	}

	f.stored[field.GetName()] = field
}

// begin records the operation of a change. The caller holds f.mu.
func (f *fields) begin(group string, before, after *adminpb.Field, now time.Time) *operation {
	meta := &adminpb.FieldOperationMetadata{StartTime: timestamppb.New(now), Field: after.GetName()}

	switch had, has := before.GetTtlConfig() != nil, after.GetTtlConfig() != nil; {
	case has && !had:
		meta.TtlConfigDelta = ttlDelta(adminpb.FieldOperationMetadata_TtlConfigDelta_ADD)
	case had && !has:
		meta.TtlConfigDelta = ttlDelta(adminpb.FieldOperationMetadata_TtlConfigDelta_REMOVE)
	}

	op := &operation{
		name: databaseOf(group) + "/operations/" + rand.Text(), field: after.GetName(), meta: meta, ends: now.Add(f.operationTime),
	}
	f.operations[op.name] = op
	op.result = f.shown(after.GetName(), op.ends)

	return op
}

func ttlDelta(change adminpb.FieldOperationMetadata_TtlConfigDelta_ChangeType) *adminpb.FieldOperationMetadata_TtlConfigDelta {
	return &adminpb.FieldOperationMetadata_TtlConfigDelta{ChangeType: change}
}

func (f *fields) operation(name string) (*operation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	op, found := f.operations[name]
	if !found {
		return nil, status.Errorf(codes.NotFound, "Operation %q not found.", name)
	}

	return op, nil
}

func (f *fields) operationsOf(prefix string) map[string]*operation {
	f.mu.Lock()
	defer f.mu.Unlock()

	out := map[string]*operation{}

	for name, op := range f.operations {
		if strings.HasPrefix(name, prefix) {
			out[name] = op
		}
	}

	return out
}

func (f *fields) forget(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if _, found := f.operations[name]; !found {
		return status.Errorf(codes.NotFound, "Operation %q not found.", name)
	}

	delete(f.operations, name)

	return nil
}

// edit changes stored settings behind the back of the clients.
func (f *fields) edit(name string, change func(*adminpb.Field)) error {
	_, err := groupOf(name)
	if err != nil {
		return fmt.Errorf("edit field: %w", err)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	next := &adminpb.Field{Name: name}
	if stored, found := f.stored[name]; found {
		next, _ = proto.Clone(stored).(*adminpb.Field)
	}

	change(next)

	next.Name = name
	f.store(next)

	return nil
}

func defaultIndexes() []*adminpb.Index {
	plain := func(order adminpb.Index_IndexField_Order) *adminpb.Index {
		return &adminpb.Index{
			QueryScope: adminpb.Index_COLLECTION,
			State:      adminpb.Index_READY,
			Fields: []*adminpb.Index_IndexField{
				{FieldPath: "*", ValueMode: &adminpb.Index_IndexField_Order_{Order: order}},
			},
		}
	}

	return []*adminpb.Index{
		plain(adminpb.Index_IndexField_ASCENDING),
		plain(adminpb.Index_IndexField_DESCENDING),
		{
			QueryScope: adminpb.Index_COLLECTION,
			State:      adminpb.Index_READY,
			Fields: []*adminpb.Index_IndexField{
				{
					FieldPath: "*",
					ValueMode: &adminpb.Index_IndexField_ArrayConfig_{ArrayConfig: adminpb.Index_IndexField_CONTAINS},
				},
			},
		},
	}
}
