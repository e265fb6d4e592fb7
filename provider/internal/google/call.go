package google

import (
	"context"
	"errors"
	"slices"
	"time"

	gax "github.com/googleapis/gax-go/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Call makes one request, and makes it again while the server is busy: unavailable, over quota, or already changing the same
// object. Each try has its own time limit; the whole ends with ctx, or when tries have run out, with the last error.
func Call[T any](ctx context.Context, timeout time.Duration, request func(context.Context) (T, error)) (T, error) {
	var result T
	err := gax.Invoke(ctx, func(ctx context.Context, _ gax.CallSettings) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		var err error
		result, err = request(ctx)
		return err
	}, gax.WithRetry(func() gax.Retryer { return &patience{} }))
	return result, err
}

// tries bounds how often one request is made: with the pauses below about a minute and a half.
const tries = 12

type patience struct {
	backoff gax.Backoff
	made    int
}

// Retry says whether and when to try again.
func (p *patience) Retry(err error) (time.Duration, bool) {
	if p.made == 0 {
		p.backoff = gax.Backoff{Initial: 200 * time.Millisecond, Max: 15 * time.Second, Multiplier: 2}
	}
	p.made++
	if p.made >= tries || !Busy(err) {
		return 0, false
	}
	return p.backoff.Pause(), true
}

// Busy says whether the same request may succeed a little later.
func Busy(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	return slices.Contains([]codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Aborted}, status.Code(err))
}

// Ambiguous says whether a request that ended so may have been carried out all the same.
func Ambiguous(err error) bool {
	return slices.Contains([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Unknown, codes.Internal, codes.Canceled},
		status.Code(err))
}
