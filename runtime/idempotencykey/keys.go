package idempotencykey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Errors of keys that a client takes from its context, to match with errors.Is.
var (
	// ErrOperationUsed: an operation of that name was begun under this prefix before.
	ErrOperationUsed = errors.New("operation name used twice under one prefix")
	// ErrOperationMissing: the context has a prefix for keys and names no operation.
	ErrOperationMissing = errors.New("operation has no name")
	// ErrPrefixMissing: the context names an operation and has no prefix.
	ErrPrefixMissing = errors.New("operation has no prefix")
)

type (
	sourceKey    struct{}
	operationKey struct{}
)

// source is where the keys of a context come from: one key, or a prefix for many.
type source struct {
	key    string
	prefix string

	mu   sync.Mutex
	used map[string]bool
}

// WithKey gives the request made with the context this key: a stable one, such as welcome-user/usr_abc123, makes every attempt at the
// operation the same one, from whatever process. Use the context for one request.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, sourceKey{}, &source{key: key})
}

// WithPrefix gives each request made with the context a key of its own: the prefix, a slash, and the name that [WithOperation] sets.
// Each name serves one request; a second use of it is [ErrOperationUsed]. Of two prefixes none should be the beginning of the other.
func WithPrefix(ctx context.Context, prefix string) context.Context {
	return context.WithValue(ctx, sourceKey{}, &source{prefix: prefix, used: make(map[string]bool)})
}

// WithRun is WithPrefix with the id of the run that ctx carries: an attempt that repeats the run repeats its keys. A context without
// a run is an error.
func WithRun(ctx context.Context) (context.Context, error) {
	r, ok := run.FromContext(ctx)
	if !ok {
		return nil, fmt.Errorf("%w: the context carries no run", ErrPrefixMissing)
	}
	return WithPrefix(ctx, r.ID), nil
}

// WithOperation names the operation of the next request under the prefix of ctx.
func WithOperation(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, operationKey{}, name)
}

// keyFromContext takes the key of the next operation. Empty without an error: the context says nothing.
func keyFromContext(ctx context.Context) (string, error) {
	operation, named := ctx.Value(operationKey{}).(string)
	s, ok := ctx.Value(sourceKey{}).(*source)
	switch {
	case !ok && named:
		return "", fmt.Errorf("%w: operation %q: use WithRun or WithPrefix first", ErrPrefixMissing, operation)
	case !ok:
		return "", nil
	case s.used == nil:
		return s.key, CheckKey(s.key)
	case operation == "":
		return "", fmt.Errorf("%w: name it with WithOperation", ErrOperationMissing)
	}
	key := s.prefix + "/" + operation
	if err := CheckKey(key); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[operation] {
		return "", fmt.Errorf("%w: %q", ErrOperationUsed, operation)
	}
	s.used[operation] = true
	return key, nil
}

// NewKey returns a key that nobody has used: a random UUID.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
