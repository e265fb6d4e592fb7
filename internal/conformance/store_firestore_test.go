package conformance_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
)

// openFirestore opens a store over a collection of its own and counts its calls, without those of Open.
func openFirestore(t *testing.T) (*firestoreclaim.Store, *atomic.Int64) {
	t.Helper()

	calls := new(atomic.Int64)
	conn := emulators.Conn(t, engines.Firestore(t), calls)

	s, err := firestoreclaim.Open(t.Context(), "firestore://local-project/(default)/"+tableName(),
		firestoreclaim.WithClientOptions(option.WithGRPCConn(conn)))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	calls.Store(0)

	return s, calls
}

func TestFirestoreRoundTrips(t *testing.T) {
	t.Parallel()

	s, calls := openFirestore(t)
	effects := s.Client().Collection(tableName())

	testRoundTrips(t, s, calls, roundTrips{fresh: 2, freshTx: 3, duplicate: 2, takeover: 4, renewal: 1}, func(ctx context.Context) error {
		return firestoreclaim.CompleteTx(ctx, func(_ context.Context, tx *firestore.Transaction) error {
			return tx.Create(effects.NewDoc(), map[string]any{"effect": true})
		})
	})
}

func TestFirestoreCompletesInTheTransactionOfTheEffect(t *testing.T) {
	t.Parallel()

	s, _ := openFirestore(t)
	effects := s.Client().Collection(tableName())

	testCompleteTx(t, transactional{
		store: s,
		completeTx: func(ctx context.Context, name string, after func() error) error {
			return firestoreclaim.CompleteTx(ctx, func(_ context.Context, tx *firestore.Transaction) error {
				if err := tx.Create(effects.NewDoc(), map[string]any{"name": name}); err != nil {
					return err
				}

				return after()
			})
		},
		rows: func(t *testing.T, name string) int {
			t.Helper()

			docs, err := effects.Where("name", "==", name).Documents(t.Context()).GetAll()
			if err != nil {
				t.Fatal(err)
			}

			return len(docs)
		},
	})
}

func TestFirestoreTellsAnEffectsPreconditionFromALostClaim(t *testing.T) {
	t.Parallel()

	s, _ := openFirestore(t)
	taken := s.Client().Collection(tableName()).Doc("taken")

	if _, err := taken.Create(t.Context(), map[string]any{}); err != nil {
		t.Fatal(err)
	}

	rounds := 0
	got := claimer(s).Do(t.Context(), proposal(time.Minute), func(ctx context.Context) error {
		return firestoreclaim.CompleteTx(ctx, func(_ context.Context, tx *firestore.Transaction) error {
			rounds++

			return tx.Create(taken, map[string]any{})
		})
	})

	if got.Outcome != claim.OutcomeReleased || rounds != 1 {
		t.Errorf("%s after %d rounds (%v), want released after 1", got.Outcome, rounds, got.Err)
	}
}

// TestFirestoreLosesToALaterVersion swaps with an update time that the document has not reached: to the server that is a bad
// argument, to the protocol a version that is not there.
func TestFirestoreLosesToALaterVersion(t *testing.T) {
	t.Parallel()

	s, _ := openFirestore(t)

	there, won, err := s.Insert(t.Context(), "id", claim.Record{AttemptID: "holder", Rev: 1})
	if err != nil || !won {
		t.Fatal(won, err)
	}

	later := claim.Version(there.Written.Add(time.Hour).Format(time.RFC3339Nano))

	found, won, err := s.Swap(t.Context(), "id", later, claim.Record{AttemptID: "rival", Rev: 2})
	if err != nil || won || found.Version != there.Version {
		t.Errorf("got %+v, %v, %v", found, won, err)
	}
}

// TestFirestoreSharesDocumentsWithTheSample reads a document of Google's published sample, and leaves its other fields alone.
func TestFirestoreSharesDocumentsWithTheSample(t *testing.T) {
	t.Parallel()

	calls := new(atomic.Int64)
	conn := emulators.Conn(t, engines.Firestore(t), calls)

	client, err := firestore.NewClient(t.Context(), "local-project", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}

	name := tableName()

	s, err := firestoreclaim.New(client, name)
	if err != nil {
		t.Fatal(err)
	}

	doc := client.Collection(name).Doc("run")
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)

	if _, err := doc.Create(t.Context(), map[string]any{
		"status": "in_progress", "attempt_id": "b0f5", "lease_expires": expires, "expire_at": expires.Add(time.Hour), "note": "sample's own",
	}); err != nil {
		t.Fatal(err)
	}

	found, err := s.Get(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}

	if found.Status != claim.StatusInProgress || found.AttemptID != "b0f5" || found.Lease != 0 || !found.LeaseExpires.Equal(expires) {
		t.Errorf("the sample's document reads as %+v", found.Record)
	}

	if _, won, err := s.Swap(t.Context(), "run", found.Version, claim.Record{Status: claim.StatusReleased, Rev: 1, LeaseExpires: time.Unix(0, 0)}); err != nil || !won {
		t.Fatal(won, err)
	}

	after, err := doc.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	data := after.Data()
	if data["note"] != "sample's own" || data["status"] != "released" || data["expire_at"] != nil {
		t.Errorf("the document after our write: %v", data)
	}

	if at, ok := data["lease_expires"].(time.Time); !ok || !at.Equal(time.Unix(0, 0)) {
		t.Errorf("lease_expires after a release: %v", data["lease_expires"])
	}

	if err := s.Close(); err != nil {
		t.Errorf("close of a store over the caller's client: %v", err)
	}
}
