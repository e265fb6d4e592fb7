package firestoreclaim

import (
	"context"
	"fmt"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// CompleteTx writes the effect of a run and its completion in one transaction: either both happen or neither. It begins the
// transaction, calls effect and commits; effect reads before it writes, as in every Firestore transaction, and may be called again
// when the server gave the transaction up. ctx is the context of the work, or derived from it. The documents of the effect must be
// in the claim's database; tx is the transaction of the store's own client.
//
// An error or panic of effect rolls everything back and is returned. When this attempt has completed the run already, it returns
// nil without calling effect; when the run is not this attempt's any more, the error matches claim.ErrLost and nothing was written.
// It costs two calls, and those of effect.
func CompleteTx(ctx context.Context, effect func(context.Context, *firestore.Transaction) error) error {
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return fmt.Errorf("firestoreclaim.CompleteTx: %w", claim.ErrNoAttempt)
	}

	s, err := driver.Attempt[*Store](attempt, "firestoreclaim")
	if err != nil {
		return err
	}

	return attempt.Transact(ctx, func(ctx context.Context, t claim.Transition) error {
		return s.commit(ctx, t, effect)
	})
}

// Client returns the client that the store uses, for what CompleteTx writes beside the claim.
func (s *Store) Client() *firestore.Client { return s.client }

// commit fences the transaction by the claim's update time. The claim is not read in it: that would take a lock and a call.
func (s *Store) commit(ctx context.Context, t claim.Transition, effect func(context.Context, *firestore.Transaction) error) error {
	since, ok := updateTime(t.Old)
	if !ok {
		return fmt.Errorf("complete the claim: %w", claim.ErrLost)
	}

	sent := false // whether the last round came as far as its commit

	err := s.client.RunTransaction(ctx, func(ctx context.Context, tx *firestore.Transaction) error {
		sent = false

		if err := effect(ctx, tx); err != nil {
			return err
		}

		if err := tx.Update(s.collection.Doc(t.ID), updates(driver.Normal(t.Completed())), firestore.LastUpdateTime(since)); err != nil {
			return err
		}

		sent = true

		return nil
	})

	switch {
	case err == nil:
		return nil
	case !sent:
		return claim.RolledBack(err)
	case refused(err), status.Code(err) == codes.InvalidArgument:
		return s.refusal(ctx, t, err)
	default:
		return fmt.Errorf("commit: %w", classify(err))
	}
}

// refusal tells a precondition of the effect that did not hold from the claim's own, and from the echo of a commit whose reply was
// lost: in the first case the claim is as it was, so nothing was committed. The others are for the caller to read back.
func (s *Store) refusal(ctx context.Context, t claim.Transition, err error) error {
	found, getErr := s.Get(ctx, t.ID)
	if getErr == nil && found.Version == t.Old {
		return claim.RolledBack(fmt.Errorf("commit: %w", err))
	}

	return fmt.Errorf("commit: %w", err)
}
