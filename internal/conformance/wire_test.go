package conformance_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// wireFault is what goes wrong between a store's client and its server, below whatever the client does about it by itself.
type wireFault int

const (
	wireIntact      wireFault = iota
	wireRequestLost           // the connection breaks before the request is sent
	wireReplyLost             // it breaks when the server has answered: the write is applied
	wireLate                  // the answer comes after the caller's deadline
	wireAborted               // gRPC alone: the server gives the call up
	wireExhausted             // gRPC alone: the server has no room for it
	readAborted               // the same for reads, where the others are for commits
	readExhausted
)

// wire is the way from a client to its server. Requests go wrong as it is set.
type wire struct {
	mu    sync.Mutex
	fault wireFault
	skip  int // requests that pass first
	left  int // requests that go wrong then
	hit   int // requests that went wrong
}

// breaks lets n requests go wrong after skip that do not.
func (w *wire) breaks(fault wireFault, skip, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.fault, w.skip, w.left, w.hit = fault, skip, n, 0
}

func (w *wire) hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.hit
}

// next is what happens to the next request: a read, or one that commits.
func (w *wire) next(read bool) wireFault {
	w.mu.Lock()
	defer w.mu.Unlock()

	switch {
	case w.left == 0, read != (w.fault == readAborted || w.fault == readExhausted):
		return wireIntact
	case w.skip > 0:
		w.skip--

		return wireIntact
	default:
		w.left--
		w.hit++

		return w.fault
	}
}

// reads reports whether a streaming method is the one that Firestore or Spanner read a record by.
func reads(method string) bool {
	return strings.HasSuffix(method, "/BatchGetDocuments") || strings.HasSuffix(method, "/StreamingRead")
}

// refused is a stream that the server ends with an error.
type refused struct {
	grpc.ClientStream

	err error
}

func (r *refused) RecvMsg(any) error { return r.err }

// grpcConn connects to a loopback gRPC server by the wire. Commits go wrong: the writes of Firestore and Spanner end with one. Or
// reads do.
func grpcConn(t *testing.T, addr string, w *wire) *grpc.ClientConn {
	t.Helper()

	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if !strings.HasSuffix(method, "/Commit") {
				return next(ctx, method, req, reply, cc, opts...)
			}

			switch w.next(false) {
			case wireRequestLost:
				return status.Error(codes.Unavailable, "connection reset")
			case wireReplyLost:
				_ = next(ctx, method, req, reply, cc, opts...)

				return status.Error(codes.Unavailable, "connection reset")
			case wireLate:
				_ = next(ctx, method, req, reply, cc, opts...)
				<-ctx.Done()

				return status.FromContextError(ctx.Err()).Err()
			case wireAborted:
				return status.Error(codes.Aborted, "contention")
			case wireExhausted:
				return status.Error(codes.ResourceExhausted, "quota")
			default:
				return next(ctx, method, req, reply, cc, opts...)
			}
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := next(ctx, desc, cc, method, opts...)
			if err != nil || !reads(method) {
				return stream, err
			}

			switch w.next(true) {
			case readAborted:
				return &refused{stream, status.Error(codes.Aborted, "contention")}, nil
			case readExhausted:
				return &refused{stream, status.Error(codes.ResourceExhausted, "quota")}, nil
			default:
				return stream, nil
			}
		}))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = conn.Close() }) // the client over it may have closed it

	return conn
}

// dial connects by the wire; for clients that write a request in one go and then read.
func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}

	return &wireConn{Conn: conn, wire: w}, nil
}

type wireConn struct {
	net.Conn

	wire *wire

	mu    sync.Mutex
	fault wireFault // of the request under way
}

func (c *wireConn) Write(b []byte) (int, error) {
	fault := c.wire.next(false)

	c.mu.Lock()
	c.fault = fault
	c.mu.Unlock()

	if fault == wireRequestLost {
		return 0, c.broken()
	}

	return c.Conn.Write(b)
}

func (c *wireConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)

	c.mu.Lock()
	fault := c.fault
	c.mu.Unlock()

	switch {
	case err != nil || n == 0:
		return n, err
	case fault == wireReplyLost:
		return 0, c.broken()
	case fault == wireLate: // nothing more comes until the client gives up
		for err == nil {
			_, err = c.Conn.Read(b)
		}

		return 0, err
	default:
		return n, nil
	}
}

func (c *wireConn) broken() error {
	_ = c.Close()

	return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}
