package process

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/spanner"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
)

// Firestore is two collections of the test's own in the emulator of this test process.
func Firestore(t testing.TB) *Subject {
	t.Helper()
	host := engines.Firestore(t)
	s := &Subject{
		URL: "firestore://" + Project + "/(default)/" + name("claims"), Effects: name("effects"),
		Env: []string{"FIRESTORE_EMULATOR_HOST=" + host},
	}
	store := openEmulated(t, host, s.URL)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Store = store
	s.Counts = func(ctx context.Context) (map[string]int, error) {
		return countDocuments(ctx, store.Client().Collection(s.Effects))
	}
	return s
}

// openEmulated opens a store of the emulator. On a busy machine its first answers can take longer than Open waits.
func openEmulated(t testing.TB, host, url string) *firestoreclaim.Store {
	t.Helper()
	for try := 1; ; try++ {
		conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		store, err := firestoreclaim.Open(t.Context(), url, firestoreclaim.WithClientOptions(option.WithGRPCConn(conn)))
		if err == nil {
			return store // closes the connection too
		}
		if try == firestoreTries {
			t.Fatal(err)
		}
	}
}

const firestoreTries = 6

func countDocuments(ctx context.Context, c *firestore.CollectionRef) (map[string]int, error) {
	counts := map[string]int{}
	docs := c.Documents(ctx)
	defer docs.Stop()
	for {
		doc, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		run, err := doc.DataAt("run")
		if err != nil {
			return nil, err
		}
		text, _ := run.(string)
		counts[text]++
	}
}

// Spanner is a database of the test's own in the emulator of this test process, which runs one read-write transaction at a time in
// each.
func Spanner(t testing.TB) *Subject {
	t.Helper()
	host := engines.Spanner(t)
	options := func() []option.ClientOption { return emulators.Spanner(t, host, new(atomic.Int64)) }
	path := emulators.SpannerDatabase(t, host, emulators.Instance(),
		"CREATE TABLE effects (id STRING(36) DEFAULT (GENERATE_UUID()), run STRING(MAX), attempt_id STRING(MAX)) PRIMARY KEY (id)")
	s := &Subject{URL: "spanner://" + path, Effects: "effects", Env: []string{"SPANNER_EMULATOR_HOST=" + host}}
	if err := spannerclaim.Init(t.Context(), s.URL, spannerclaim.WithClientOptions(options()...)); err != nil {
		t.Fatal(err)
	}
	store, err := spannerclaim.Open(t.Context(), s.URL, spannerclaim.WithClientOptions(options()...))
	if err != nil {
		t.Fatal(err)
	}
	client, err := spanner.NewClientWithConfig(t.Context(), path, spanner.ClientConfig{DisableNativeMetrics: true}, options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Store = store
	s.Counts = func(ctx context.Context) (map[string]int, error) {
		counts := map[string]int{}
		err := client.Single().Query(ctx, spanner.NewStatement("SELECT run FROM effects")).Do(func(row *spanner.Row) error {
			var run string
			err := row.Columns(&run)
			counts[run]++
			return err
		})
		return counts, err
	}
	return s
}
