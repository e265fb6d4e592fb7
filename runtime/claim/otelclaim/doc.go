// Package otelclaim tells OpenTelemetry what becomes of runs: counters, the time that deliveries take, and spans.
//
//	observer, err := otelclaim.New()
//	…
//	claimer := claim.New(store, claim.WithObserver(observer)) // in a handler: scheduled.Config.ClaimOptions
//
// It needs the API of OpenTelemetry alone. Where the numbers and spans go is for the providers to say: the global ones, or those of
// [WithMeterProvider] and [WithTracerProvider]. Without an SDK behind them nothing is kept and next to nothing spent.
//
// # Metrics
//
// Each has the attributes idempotent.store, the kind of store, and idempotent.job, the job or scope of the run, where its name holds
// one. Counters count what happened to deliveries:
//
//	idempotent.claim.claimed       a new or released run was claimed
//	idempotent.claim.takeover      a run was claimed from an attempt whose lease was over: somebody died, or was too slow
//	idempotent.claim.executed      the work was done and recorded
//	idempotent.claim.duplicate     the run had been done before
//	idempotent.claim.in_progress   another attempt held the lease
//	idempotent.claim.released      the work failed and may be tried again
//	idempotent.claim.failed        the work failed for good, now or before
//	idempotent.claim.unknown       at most once, and nobody knows whether the work was done
//	idempotent.claim.lost          the claim was lost before the work ended
//	idempotent.claim.unrecorded    the work was done and could not be recorded
//	idempotent.claim.unavailable   the store could not be asked, or nothing could be run for another reason
//	idempotent.claim.not_admitted  the delivery turned out to be of a forced run, which goes another way
//	idempotent.claim.mismatch      the idempotency key came with another request than before
//	idempotent.claim.renewed       a lease was renewed, or could not be
//	idempotent.claim.store_error   a call to the store failed; also with idempotent.verb
//
// The histogram idempotent.claim.duration is how long deliveries took, in seconds, with idempotent.outcome.
//
// Worth an alarm: unknown and unrecorded, which somebody must look at; failed; takeover and store_error when they grow.
//
// # Spans
//
// They are children of what is in the delivery's context, and end when the thing they tell of does: idempotent.run for a delivery,
// idempotent.claim for a claim that was won, idempotent.renew, and idempotent.store for a call that failed. They carry the name of the
// run, its id, the attempt and the outcome.
package otelclaim
