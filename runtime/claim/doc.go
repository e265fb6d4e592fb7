// Package claim gives one run to one attempt at a time, however often and from however many processes it is asked for.
//
// A [Store] keeps one [Record] for each run: a driver with insert, compare-and-swap, read and a clock, and no policy. The [Claimer]
// does the rest. It claims the run under a lease, calls the work with a context that ends when the lease does, and records what came
// of it: completed, released for another attempt, failed for good, or unknown. Every rule of who may claim what is one pure function
// over what the store returned, so that no two stores can disagree.
//
// What it promises: two attempts never both complete a run; an attempt that dies is replaced once its lease is over by the store's
// clock; an attempt that lost its claim is told so through its context and can no longer record anything. What it cannot promise by
// itself: that work which ignores its context stops. An effect written in the transaction that completes the claim (CompleteTx of
// the store's package) happens exactly once; any other effect should call [Check] first.
//
//	claimer := claim.New(store)
//	result := claimer.Do(ctx, claim.Proposal{ID: id, Run: name, Lease: lease, Retention: retention}, work)
package claim
