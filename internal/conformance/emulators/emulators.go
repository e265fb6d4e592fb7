// Package emulators connects tests to the emulators of Google's databases, and makes databases in them.
package emulators

import (
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"testing"

	database "cloud.google.com/go/spanner/admin/database/apiv1"
	"cloud.google.com/go/spanner/admin/database/apiv1/databasepb"
	instance "cloud.google.com/go/spanner/admin/instance/apiv1"
	"cloud.google.com/go/spanner/admin/instance/apiv1/instancepb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// project is one that no cloud has.
const project = "projects/local-project"

// Conn connects to a loopback gRPC server and counts the calls, each resend of a client included. The connection ends with the test.
func Conn(t testing.TB, addr string, calls *atomic.Int64, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()

	conn, err := grpc.NewClient("passthrough:///"+addr, append(opts,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			calls.Add(1)

			return next(ctx, method, req, reply, cc, opts...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			calls.Add(1)

			return next(ctx, desc, cc, method, opts...)
		}))...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = conn.Close() }) // the client over it may have closed it

	return conn
}

// Spanner speaks to the emulator at an address over a connection of its own, as a process would. The calls are counted in calls.
func Spanner(t testing.TB, addr string, calls *atomic.Int64) []option.ClientOption {
	t.Helper()

	return []option.ClientOption{option.WithGRPCConn(Conn(t, addr, calls)), option.WithoutAuthentication()}
}

// Instance is the name of an instance that no other test has.
func Instance() string { return "i" + strings.ToLower(rand.Text()[:12]) }

// SpannerDatabase makes a database in a new instance of that name, runs the statements in it, and returns its full name. The emulator
// runs one read-write transaction at a time in a database, so tests that share one wait for each other.
func SpannerDatabase(t testing.TB, addr, name string, statements ...string) string {
	t.Helper()

	ctx, opts := t.Context(), Spanner(t, addr, new(atomic.Int64))

	instances, err := instance.NewInstanceAdminClient(ctx, opts...)
	if err != nil {
		t.Fatal(err)
	}

	made, err := instances.CreateInstance(ctx, &instancepb.CreateInstanceRequest{
		Parent: project, InstanceId: name,
		Instance: &instancepb.Instance{Config: project + "/instanceConfigs/emulator-config", DisplayName: name, NodeCount: 1},
	})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := made.Wait(ctx); err != nil {
		t.Fatal(err)
	}

	databases, err := database.NewDatabaseAdminClient(ctx, opts...)
	if err != nil {
		t.Fatal(err)
	}

	op, err := databases.CreateDatabase(ctx, &databasepb.CreateDatabaseRequest{
		Parent: project + "/instances/" + name, CreateStatement: "CREATE DATABASE `claims`", ExtraStatements: statements,
	})
	if err != nil {
		t.Fatal(err)
	}

	db, err := op.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}

	return db.GetName()
}
