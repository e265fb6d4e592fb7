package ttl

import (
	"context"
	"fmt"
	"sync"
	"time"

	admin "cloud.google.com/go/firestore/apiv1/admin"
	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// State is what the database says about a collection's policy.
type State string

// The states of a policy.
const (
	Ensured     State = "ensured"      // active, or being created, which already covers new records
	Missing     State = "missing"      // no policy on the field
	NeedsRepair State = "needs_repair" // it covers new records; it could not be applied to all older ones
)

// Policies reads and sets policies, once per collection: a thousand jobs that share one collection make one request. It lives as
// long as one run of the provider. Safe for concurrent use.
type Policies struct {
	timeout time.Duration
	connect func() (*admin.FirestoreAdminClient, error)

	mu      sync.Mutex
	flights map[flight]func() (State, error)
}

type flight struct {
	collection Collection
	write      bool
}

// New is the policies behind the endpoint of the settings. The connection is opened by the first request.
func New(settings google.Settings) *Policies {
	return &Policies{
		timeout: settings.Timeout(),
		flights: map[flight]func() (State, error){},
		connect: sync.OnceValues(func() (*admin.FirestoreAdminClient, error) {
			endpoint, err := google.ParseEndpoint(settings.FirestoreEndpoint)
			if err != nil {
				return nil, fmt.Errorf("firestore_custom_endpoint: %w", err)
			}
			options, err := settings.Options(endpoint)
			if err != nil {
				return nil, err
			}
			// The connection outlives the request that opens it.
			client, err := admin.NewFirestoreAdminClient(context.Background(), options...)
			if err != nil {
				return nil, fmt.Errorf("connect to the Firestore Admin API: %w", err)
			}
			return client, nil
		}),
	}
}

// once runs work for a collection unless it has run or is running, and hands its result to all who ask. A failure is forgotten,
// so that the next one who asks tries again; but who may not ask once may not ask for the next job either.
func (p *Policies) once(key flight, work func() (State, error)) (State, error) {
	p.mu.Lock()
	shared, ok := p.flights[key]
	if !ok {
		shared = sync.OnceValues(work)
		p.flights[key] = shared
	}
	p.mu.Unlock()
	state, err := shared()
	if err != nil && !ok && (key.write || status.Code(err) != codes.PermissionDenied) {
		p.mu.Lock()
		delete(p.flights, key)
		p.mu.Unlock()
	}
	return state, err
}

func stateOf(field *adminpb.Field) State {
	switch field.GetTtlConfig().GetState() {
	case adminpb.Field_TtlConfig_CREATING, adminpb.Field_TtlConfig_ACTIVE:
		return Ensured
	case adminpb.Field_TtlConfig_NEEDS_REPAIR:
		return NeedsRepair
	default:
		return Missing
	}
}
