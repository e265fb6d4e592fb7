package inbox_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/firestoreinbox"
)

// openFirestore opens an inbox and counts its calls, without those of Open.
func openFirestore(t *testing.T, collection string, opts ...grpc.DialOption) (*firestoreinbox.Store, *atomic.Int64) {
	t.Helper()

	calls := new(atomic.Int64)
	conn := emulators.Conn(t, engines.Firestore(t), calls, opts...)

	s, err := firestoreinbox.Open(t.Context(), "firestore://local-project/(default)/"+collection,
		firestoreclaim.WithClientOptions(option.WithGRPCConn(conn)))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })
	calls.Store(0)

	return s, calls
}

func firestoreSubject(t *testing.T) subject {
	t.Helper()

	return firestoreSubjectIn(t, tableName())
}

func firestoreSubjectIn(t *testing.T, collection string) subject {
	t.Helper()

	admin, _ := openFirestore(t, collection)
	effects := admin.Client().Collection(collection + "_effects")

	var broken atomic.Pointer[string]

	return subject{
		open: func(t *testing.T) webhook.Inbox {
			t.Helper()

			s, _ := openFirestore(t, collection, grpc.WithChainUnaryInterceptor(failCommits(&broken)))

			return s
		},
		patience: 300 * time.Millisecond, holds: true, // from its own client
		apply: func(ctx context.Context, name string, g guard) error {
			return firestoreclaim.CompleteTx(ctx, func(ctx context.Context, tx *firestore.Transaction) error {
				err := g.allowed(
					func(entity string, at time.Time, id string) (bool, error) {
						return firestoreinbox.Later(ctx, tx, entity, at, id)
					},
					func(entity, id string) (bool, error) { return firestoreinbox.Once(ctx, tx, entity, id) })
				if err == nil {
					err = tx.Create(effects.NewDoc(), map[string]any{"name": name})
				}

				if err == nil && name == unwritable {
					err = errNotNow
				}

				return err
			})
		},
		effects: func(t *testing.T, name string) int {
			t.Helper()

			docs, err := effects.Where("name", "==", name).Documents(t.Context()).GetAll()
			if err != nil {
				t.Fatal(err)
			}

			return len(docs)
		},
		breakSource: func(_ *testing.T, source string) { broken.Store(&source) },
	}
}

// failCommits refuses the commits that write a document of the source.
func failCommits(source *atomic.Pointer[string]) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		commit, ok := req.(*firestorepb.CommitRequest)
		if broken := source.Load(); ok && broken != nil {
			for _, write := range commit.GetWrites() {
				if write.GetUpdate().GetFields()["source"].GetStringValue() == *broken {
					return status.Error(codes.PermissionDenied, "disk on fire")
				}
			}
		}

		return next(ctx, method, req, reply, cc, opts...)
	}
}

func TestFirestoreInboxRoundTrips(t *testing.T) {
	t.Parallel()

	s, calls := openFirestore(t, tableName())

	testRoundTrips(t, s, calls, roundTrips{accepted: 1, duplicate: 2, conflict: 2, found: 2, idle: 2})
}

// The client resends a commit by itself when its reply is lost, and is told then that the document is there.
func TestAFirestoreEventWhoseReplyWasLostIsNoDuplicate(t *testing.T) {
	t.Parallel()

	var lost atomic.Int64

	s, _ := openFirestore(t, tableName(), grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := next(ctx, method, req, reply, cc, opts...)
			if _, commit := req.(*firestorepb.CommitRequest); commit && err == nil && lost.Add(1) == 1 {
				return status.Error(codes.Unavailable, "reply lost")
			}

			return err
		}))

	for _, want := range []webhook.Receipt{{}, {Duplicate: true}} {
		if got, err := s.Accept(t.Context(), entry("msg_1", `{}`)); err != nil || got != want {
			t.Errorf("receipt %+v, %v, want %+v", got, err, want)
		}
	}

	if lost.Load() == 0 {
		t.Error("no reply was lost: the test looks at the wrong call")
	}
}

// A search cannot hide what it found from other processes, since that would be a write.
func TestFirestoreSearchesHideWhatTheyFoundFromTheirOwnClientAlone(t *testing.T) {
	t.Parallel()

	collection := tableName()
	one, _ := openFirestore(t, collection)
	other, _ := openFirestore(t, collection)
	e := entry("msg_1", `{}`)

	if _, err := one.Accept(t.Context(), e); err != nil {
		t.Fatal(err)
	}

	found := func(s *firestoreinbox.Store, hold time.Duration) int {
		t.Helper()

		events, err := s.Due(t.Context(), 1, hold)
		if err != nil {
			t.Fatal(err)
		}

		return len(events)
	}

	eventually(t, "it is due", func() bool { return found(one, time.Hour) == 1 })

	if n := found(one, time.Hour); n != 0 {
		t.Errorf("found again by the same client: %d", n)
	}

	if n := found(other, 0); n != 1 {
		t.Errorf("found by another client: %d", n)
	}

	// Once the document has changed it is another matter.
	was, err := other.Get(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}

	r := was.Record
	r.Rev++

	if _, ok, err := other.Swap(t.Context(), e.ID, was.Version, r); err != nil || !ok {
		t.Fatal(ok, err)
	}

	if n := found(one, time.Hour); n != 1 {
		t.Errorf("found after it was given back: %d", n)
	}
}

func TestFirestoreNamesADocumentThatIsNoEvent(t *testing.T) {
	t.Parallel()

	s, _ := openFirestore(t, tableName())
	e := entry("msg_1", `{}`)

	if _, won, err := s.Insert(t.Context(), e.ID, claim.Record{Status: claim.StatusReleased, AttemptID: "a", Rev: 1, LeaseExpires: time.Unix(0, 0)}); err != nil || !won {
		t.Fatal(won, err)
	}

	for what, ask := range map[string]func() error{
		"load": func() error { _, err := s.Load(t.Context(), e.ID); return err },
		"due":  func() error { _, err := s.Due(t.Context(), 1, 0); return err },
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), e.ID+" is not an event, an inbox needs a collection of its own: ") ||
			!strings.Contains(err.Error(), "field payload holds a <nil>, not a []uint8") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestFirestorePartsAreForgottenWithTheirEvents(t *testing.T) {
	t.Parallel()

	collection := tableName()
	s := firestoreSubjectIn(t, collection)
	inbox, _ := openFirestore(t, collection)
	claims := inbox.Client().Collection(collection)

	partsGo(t, suite{subject: s, inbox: inbox}, inbox, func(id string) {
		if _, err := claims.Doc(id).Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFirestoreInitFindsTheDatabase(t *testing.T) {
	t.Parallel()

	conn := emulators.Conn(t, engines.Firestore(t), new(atomic.Int64))

	if err := firestoreinbox.Init(t.Context(), "firestore://local-project", firestoreclaim.WithClientOptions(option.WithGRPCConn(conn))); err != nil {
		t.Error(err)
	}
}
