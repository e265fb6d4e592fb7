package idempotencykey

import (
	"context"
	"fmt"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

type guardedKey struct{}

// guarded is a request on its way through the middleware.
type guarded struct {
	m       *Middleware
	attempt *claim.Attempt
}

// Guarded reports whether the request of ctx runs under a key, so that [CompleteTx] can be used.
func Guarded(ctx context.Context) bool {
	_, ok := ctx.Value(guardedKey{}).(*guarded)
	return ok
}

// Respond sets the answer that is stored when the request of ctx is completed in a transaction. Call it in the body of the store's
// CompleteTx; [CompleteTx] does so by itself. Once the transaction has committed, this answer is what is sent, whatever the handler
// writes, returns or panics with after it.
//
// The error matches claim.ErrNoAttempt when the request runs without a key, and claim.ErrTooLarge when the answer is over the limit:
// let the body return it, and the transaction is rolled back.
func Respond(ctx context.Context, res Response) error {
	g, ok := ctx.Value(guardedKey{}).(*guarded)
	if !ok {
		return fmt.Errorf("idempotencykey.Respond: %w", claim.ErrNoAttempt)
	}
	if res.Status == 0 {
		res.Status = 200
	}
	if res.Status < 200 || res.Status > 499 {
		return fmt.Errorf("idempotencykey.Respond: status %d is never stored: use 200 to 499", res.Status)
	}
	if len(res.Body) > g.m.cfg.MaxResponse {
		return fmt.Errorf("idempotencykey.Respond: %w: a body of %d bytes, %d are kept", claim.ErrTooLarge, len(res.Body), g.m.cfg.MaxResponse)
	}
	s := stored{Response: g.m.filter(canonical(res)), at: g.m.now(), kept: true}
	if err := g.attempt.SetResult(s.encode()); err != nil {
		return fmt.Errorf("idempotencykey.Respond: %w", err)
	}
	return nil
}

// CompleteTx writes an effect, the completion of the request's key and its answer in one transaction: all happen or none. Complete
// is the CompleteTx of the store's package, effect returns the answer:
//
//	err := idempotencykey.CompleteTx(r.Context(), postgresclaim.CompleteTx, func(tx pgx.Tx) (idempotencykey.Response, error) {
//		payment, err := insert(r.Context(), tx, order)
//		if err != nil {
//			return idempotencykey.Response{}, err
//		}
//		return idempotencykey.JSON(http.StatusCreated, payment)
//	})
//
// After nil the answer is settled and the handler has nothing left to write. After an error nothing was written to the database, or
// claim.ErrAmbiguous says that nobody knows yet: answer 5xx, which releases the key unless the transaction is found to have
// committed. Effect may be called again when the database gave the transaction up.
func CompleteTx[Tx any](
	ctx context.Context, complete func(context.Context, func(Tx) error) error, effect func(Tx) (Response, error),
) error {
	return complete(ctx, func(tx Tx) error {
		res, err := effect(tx)
		if err != nil {
			return err
		}
		return Respond(ctx, res)
	})
}

// CompleteContextTx is CompleteTx for the stores whose transactions come with a context: Firestore and Spanner.
func CompleteContextTx[Tx any](
	ctx context.Context, complete func(context.Context, func(context.Context, Tx) error) error,
	effect func(context.Context, Tx) (Response, error),
) error {
	return complete(ctx, func(txCtx context.Context, tx Tx) error {
		res, err := effect(txCtx, tx)
		if err != nil {
			return err
		}
		return Respond(ctx, res)
	})
}
