// Package sample is the algorithm of the handler that Google publishes for Cloud Scheduler, written afresh: what stands in many
// collections today, what a team migrates from, and what ours is measured against.
//
// A transaction reads the document of the run and then claims it, by the clock of the client; a second one completes it; a run that
// failed is deleted. The document is named by the SHA-256 of the job and the schedule time as the header spells it.
package sample

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Outcome is what became of a delivery.
type Outcome string

// The outcomes of a delivery.
const (
	Executed   Outcome = "executed"
	Duplicate  Outcome = "duplicate"   // completed before
	InProgress Outcome = "in_progress" // somebody's lease is not over, by the clock of this client
	Failed     Outcome = "failed"      // the work failed, and the document was deleted
	Lost       Outcome = "lost"        // executed, but the document was somebody else's by then
)

// Handler runs the work of runs.
type Handler struct {
	// Client and Collection say where the documents are.
	Client     *firestore.Client
	Collection string
	// Lease is how long a claim holds, Retention how long its document is kept.
	Lease, Retention time.Duration
	// Now is the clock of the client. Nil: time.Now.
	Now func() time.Time
}

// ID is the name of a run's document: job is its short id, at the schedule time as the header has it.
func ID(job, at string) string {
	sum := sha256.Sum256([]byte(job + "/" + at))
	return hex.EncodeToString(sum[:])
}

// document is what the sample knows of a run.
type document struct {
	Status       string    `firestore:"status"`
	AttemptID    string    `firestore:"attempt_id"`
	LeaseExpires time.Time `firestore:"lease_expires"`
	ExpireAt     time.Time `firestore:"expire_at"`
}

// Run takes one delivery of the run. The error is that of the work or of the store.
func (h *Handler) Run(ctx context.Context, id string, work func(context.Context) error) (Outcome, error) {
	ref, attempt := h.Client.Collection(h.Collection).Doc(id), rand.Text()
	claimed, err := h.claim(ctx, ref, attempt)
	if err != nil || claimed != Executed {
		return claimed, err
	}
	if err := work(ctx); err != nil {
		return Failed, errors.Join(err, h.finish(ctx, ref, attempt, func(tx *firestore.Transaction) error { return tx.Delete(ref) }))
	}
	err = h.finish(ctx, ref, attempt, func(tx *firestore.Transaction) error {
		return tx.Update(ref, []firestore.Update{{Path: "status", Value: "completed"}, {Path: "expire_at", Value: h.now().Add(h.Retention)}})
	})
	if errors.Is(err, errForeign) {
		return Lost, nil
	}
	return Executed, err
}

// claim decides in one transaction. Executed: this attempt is to execute the run.
func (h *Handler) claim(ctx context.Context, ref *firestore.DocumentRef, attempt string) (Outcome, error) {
	var outcome Outcome
	err := h.Client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		found, exists, err := read(tx, ref)
		if err != nil {
			return err
		}
		now := h.now()
		switch {
		case exists && found.Status == "completed":
			outcome = Duplicate
			return nil
		case exists && found.LeaseExpires.After(now):
			outcome = InProgress
			return nil
		}
		outcome = Executed
		return tx.Set(ref, document{
			Status: "in_progress", AttemptID: attempt, LeaseExpires: now.Add(h.Lease), ExpireAt: now.Add(h.Retention),
		})
	})
	if err != nil {
		return "", fmt.Errorf("claim: %w", err)
	}
	return outcome, nil
}

var errForeign = errors.New("document is another attempt's")

// finish changes the document in one transaction if it is still this attempt's.
func (h *Handler) finish(ctx context.Context, ref *firestore.DocumentRef, attempt string, write func(*firestore.Transaction) error) error {
	return h.Client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		found, exists, err := read(tx, ref)
		if err != nil {
			return err
		}
		if !exists || found.AttemptID != attempt {
			return errForeign
		}
		return write(tx)
	})
}

func read(tx *firestore.Transaction, ref *firestore.DocumentRef) (found document, exists bool, err error) {
	doc, err := tx.Get(ref)
	if status.Code(err) == codes.NotFound {
		return found, false, nil
	}
	if err != nil {
		return found, false, err
	}
	return found, true, doc.DataTo(&found)
}

func (h *Handler) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}
