// Package bounded gives an end to calls that the clients of Google's databases would resend for minutes.
package bounded

import (
	"context"
	"time"
)

// timeout is enough for one read or write.
const timeout = 10 * time.Second

// Call is the context of one read or write: ctx, with a deadline where the caller has set none.
func Call(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, set := ctx.Deadline(); set {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}
