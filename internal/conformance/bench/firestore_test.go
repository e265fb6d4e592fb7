package bench_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/sample"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
)

// wire is a connection to the Firestore emulator that counts calls and can hold each up.
type wire struct {
	calls atomic.Int64
	delay atomic.Int64 // nanoseconds
}

// pass counts a call and waits before it is made, as a network would.
func (w *wire) pass(ctx context.Context) {
	w.calls.Add(1)
	pause(ctx, time.Duration(w.delay.Load()))
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (w *wire) client(t *testing.T) *firestore.Client {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+engines.Firestore(t),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			w.pass(ctx)
			return next(ctx, method, req, reply, cc, opts...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			w.pass(ctx)
			return next(ctx, desc, cc, method, opts...)
		}))
	if err != nil {
		t.Fatal(err)
	}
	client, err := firestore.NewClient(t.Context(), "acme-prod", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// sides are the two that are compared: each delivers a run once, over one collection and one connection.
type sides struct {
	wire         *wire
	ours, theirs func(ctx context.Context, id string, work func(context.Context) error) string
}

func compare(t *testing.T) *sides {
	t.Helper()
	s := &sides{wire: &wire{}}
	client, collection := s.wire.client(t), "t_"+strings.ToLower(rand.Text()[:12])
	store, err := firestoreclaim.New(client, collection)
	if err != nil {
		t.Fatal(err)
	}
	claimer := claim.New(store, claim.WithLogger(slog.New(slog.DiscardHandler)), claim.WithStoreTimeout(30*time.Second))
	handler := &sample.Handler{Client: client, Collection: collection, Lease: 5 * time.Minute, Retention: time.Hour}
	s.ours = func(ctx context.Context, id string, work func(context.Context) error) string {
		return string(claimer.Do(ctx, claim.Proposal{ID: id, Run: id, Lease: 5 * time.Minute, Retention: time.Hour}, work).Outcome)
	}
	s.theirs = func(ctx context.Context, id string, work func(context.Context) error) string {
		outcome, err := handler.Run(ctx, id, work)
		if err != nil {
			return err.Error()
		}
		return string(outcome)
	}
	return s
}

func nothing(context.Context) error { return nil }

// fresh delivers a run that nobody knows yet and returns how long that took.
func fresh(t *testing.T, deliver func(context.Context, string, func(context.Context) error) string) time.Duration {
	t.Helper()
	began := time.Now()
	if got := deliver(t.Context(), rand.Text(), nothing); got != "executed" {
		t.Fatalf("a new run: %s", got)
	}
	return time.Since(began)
}
