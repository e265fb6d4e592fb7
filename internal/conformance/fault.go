package conformance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// Fault is what goes wrong with one call to a store.
type Fault int

// The faults. Each but None, Slow and Resent returns an error, and the caller cannot tell which it was.
const (
	None        Fault = iota
	RequestLost       // not applied
	ReplyLost         // applied
	Late              // applied after the caller has been told of an error: a request that the network held back
	Reset             // the connection breaks: not applied
	Storm             // the store gives the call up as contended: not applied, claim.ErrConflict
	Slow              // applied, answered late
	Hang              // applied, never answered: the caller's deadline ends it
	Resent            // applied, and sent once more by the client's own retry, whose answer is what the caller gets
)

// errFault is wrapped by every injected error.
var errFault = errors.New("injected fault")

// Call is one call to a store, for the choice of its fault.
type Call struct {
	// Verb is insert, swap or get.
	Verb string
	// ID is the run's, Record what is to be written: zero for get.
	ID     string
	Record claim.Record
}

// Faulty is a store whose calls fail as choose says. Its transactions, if it has any, do not.
type Faulty struct {
	claim.Store

	choose func(Call) Fault
	resent func(Call) // told of each call that is sent twice, after the first; nil: nobody is
	delay  time.Duration
	late   sync.WaitGroup
}

// NewFaulty returns store with faults. Delay is how much later a late write is applied and a slow one answered.
func NewFaulty(store claim.Store, delay time.Duration, choose func(Call) Fault) *Faulty {
	return &Faulty{Store: store, choose: choose, delay: delay}
}

// Unwrap returns the store without faults.
func (f *Faulty) Unwrap() claim.Store { return f.Store }

// Wait returns when no late write is under way.
func (f *Faulty) Wait() { f.late.Wait() }

// Insert implements claim.Store.
func (f *Faulty) Insert(ctx context.Context, id string, r claim.Record) (claim.Snapshot, bool, error) {
	return f.call(ctx, Call{Verb: "insert", ID: id, Record: r}, func(ctx context.Context) (claim.Snapshot, bool, error) {
		return f.Store.Insert(ctx, id, r)
	})
}

// Swap implements claim.Store.
func (f *Faulty) Swap(ctx context.Context, id string, old claim.Version, r claim.Record) (claim.Snapshot, bool, error) {
	return f.call(ctx, Call{Verb: "swap", ID: id, Record: r}, func(ctx context.Context) (claim.Snapshot, bool, error) {
		return f.Store.Swap(ctx, id, old, r)
	})
}

// Get implements claim.Store.
func (f *Faulty) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	snap, _, err := f.call(ctx, Call{Verb: "get", ID: id}, func(ctx context.Context) (claim.Snapshot, bool, error) {
		snap, err := f.Store.Get(ctx, id)

		return snap, false, err
	})

	return snap, err
}

// List implements claim.Store.
func (f *Faulty) List(ctx context.Context, filter claim.Filter) iter.Seq2[claim.Snapshot, error] {
	return f.Store.List(ctx, filter)
}

func (f *Faulty) call(ctx context.Context, c Call, do func(context.Context) (claim.Snapshot, bool, error)) (claim.Snapshot, bool, error) {
	failed := func(format string, cause error) (claim.Snapshot, bool, error) {
		return claim.Snapshot{}, false, fmt.Errorf(format, c.Verb, cause)
	}

	switch f.choose(c) {
	case RequestLost:
		return failed("%s: deadline exceeded: %w", errFault)
	case Reset:
		return failed("%s: connection reset: %w", errFault)
	case Storm:
		return failed("%s: aborted: %w", errors.Join(errFault, claim.ErrConflict))
	case ReplyLost:
		_, _, _ = do(ctx)

		return failed("%s: unavailable: %w", errFault)
	case Late:
		f.late.Go(func() {
			time.Sleep(f.delay)
			_, _, _ = do(context.WithoutCancel(ctx))
		})

		return failed("%s: deadline exceeded: %w", errFault)
	case Hang:
		_, _, _ = do(ctx)
		<-ctx.Done()

		return failed("%s: %w", ctx.Err())
	case Resent:
		_, _, _ = do(ctx)

		if f.resent != nil {
			f.resent(c)
		}

		return do(ctx)
	case Slow:
		snap, ok, err := do(ctx)

		time.Sleep(f.delay)

		return snap, ok, err
	default:
		return do(ctx)
	}
}
