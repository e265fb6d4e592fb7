// Package conformance holds every claim store to one promise: the semantics of its verbs, the behaviour of the claim protocol over
// it, a state machine against a pure model, linearizability under takeovers and crashes, and faults. It lives apart from the stores
// so that no user's go.sum carries test tools.
package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// Open opens one more client of a store. All clients that it returns for one test share their records and one clock; each is closed
// by the test's end.
type Open func(t *testing.T) claim.Store

// Option changes what Run tests.
type Option func(*suite)

// WithDelete lets the suite delete records behind the store's back, as a TTL policy does: without it, what holds across delete and
// insert is not tested.
func WithDelete(del func(ctx context.Context, id string) error) Option {
	return func(s *suite) { s.del = del }
}

// WithPatience scales the leases of the cases that wait for one to lapse. Default: 200 ms; slower stores need more.
func WithPatience(lease time.Duration) Option {
	return func(s *suite) { s.lease = lease }
}

// processes is how many clients contend in the cases that need several.
const processes = 4

type suite struct {
	clients []claim.Store
	caps    claim.Caps
	lease   time.Duration
	del     func(ctx context.Context, id string) error
}

// Run holds the store to the whole suite.
func Run(t *testing.T, open Open, opts ...Option) {
	t.Helper()

	s := &suite{lease: 200 * time.Millisecond}
	for _, opt := range opts {
		opt(s)
	}

	for range processes {
		s.clients = append(s.clients, open(t))
	}

	s.caps = s.clients[0].Caps()
	t.Logf("caps: %-10s server clock %-5v  survives failover %-5v  transactions %-5v  result %d bytes", s.caps.Store,
		s.caps.ServerClock, s.caps.SurvivesFailover, s.caps.Transactions, s.caps.MaxResult)

	if s.caps.Store == "" {
		t.Error("Caps().Store is empty: errors and logs could not name the store")
	}

	for _, group := range []struct {
		name  string
		cases map[string]func(*testing.T)
	}{
		{"verbs", s.verbs()},
		{"record", s.record()},
		{"clock", s.clock()},
		{"list", s.list()},
		{"contention", s.contention()},
		{"protocol", s.protocol()},
		{"model", map[string]func(*testing.T){"agrees with the pure model": s.model}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for name, test := range group.cases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t)
				})
			}
		})
	}
}

// newID is a run id that no other test uses.
func newID() string {
	var b [32]byte

	_, _ = rand.Read(b[:])

	return hex.EncodeToString(b[:])
}

// newAttempt is the record of a first attempt that has just claimed.
func newAttempt() claim.Record {
	now := time.Now().UTC().Truncate(time.Microsecond)

	return claim.Record{
		Status: claim.StatusInProgress, AttemptID: newID()[:32], Attempt: 1, Counted: 1, Rev: 1, Lease: time.Minute,
		LeaseExpires: now.Add(time.Minute), ExpireAt: now.Add(time.Hour), ClaimedAt: now, Holder: "conformance", Run: "runs/" + newID(),
	}
}

// next is r written once more with that status.
func next(r claim.Record, status claim.Status) claim.Record {
	r.Status = status
	r.Rev++

	return r
}

// testingT is what a call of the suite needs of a test: a *testing.T's, or a *rapid.T's.
type testingT interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// settled calls a verb until it no longer conflicts: a store may give up a write that contends with another, nothing being written.
func settled(t testingT, call func() (claim.Snapshot, bool, error)) (claim.Snapshot, bool) {
	t.Helper()

	snap, ok, err := unconflicted(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}

	return snap, ok
}

func unconflicted(ctx context.Context, call func() (claim.Snapshot, bool, error)) (claim.Snapshot, bool, error) {
	for {
		snap, ok, err := call()
		if !errors.Is(err, claim.ErrConflict) {
			return snap, ok, err
		}

		select {
		case <-ctx.Done():
			return snap, ok, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *suite) insert(t testingT, client int, id string, r claim.Record) (claim.Snapshot, bool) {
	t.Helper()

	return settled(t, func() (claim.Snapshot, bool, error) { return s.clients[client].Insert(t.Context(), id, r) })
}

func (s *suite) swap(t testingT, client int, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool) {
	t.Helper()

	return settled(t, func() (claim.Snapshot, bool, error) { return s.clients[client].Swap(t.Context(), id, old, r) })
}

func (s *suite) get(t testingT, client int, id string) claim.Snapshot {
	t.Helper()

	snap, _ := settled(t, func() (claim.Snapshot, bool, error) {
		snap, err := s.clients[client].Get(t.Context(), id)
		if errors.Is(err, claim.ErrNotFound) {
			err = nil
		}

		return snap, false, err
	})

	return snap
}

// inserted writes r where nothing is, and fails the test if something was.
func (s *suite) inserted(t testingT, id string, r claim.Record) claim.Snapshot {
	t.Helper()

	snap, ok := s.insert(t, 0, id, r)
	if !ok {
		t.Fatalf("insert of a new id: false, found %+v", snap)
	}

	return snap
}
