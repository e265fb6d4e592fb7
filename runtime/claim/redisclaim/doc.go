// Package redisclaim keeps claims in Redis or Valkey (version 5 or later; Memorystore too), one hash a run under the key
// TABLE:RUN-ID, which the server deletes a minute after its expire_at.
//
// The store's clock is the server's. Each verb is one Lua script and one round trip: a claim is 1, won or lost, a takeover 2, its
// end 1, a renewal 1.
//
// It promises less than the other stores. Redis replicates after it has answered, so a failover can lose a claim, and with it a run
// can happen twice; at_most_once is refused. A server that evicts keys would forget claims at any time, so [Open] refuses one whose
// maxmemory-policy is not noeviction. There is no CompleteTx: an effect elsewhere cannot be in a transaction with the claim.
package redisclaim
