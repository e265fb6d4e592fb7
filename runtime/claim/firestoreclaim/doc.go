// Package firestoreclaim keeps claims in a collection of a Cloud Firestore database, one document a run, named by the run id. It
// works with Native mode, and with the emulator when FIRESTORE_EMULATOR_HOST is set.
//
// The store's clock is the server's: a document's update time against the time of the read, so no client's clock counts. A claim
// is a create, or an update under the precondition of the last update time; no transaction is needed for it. In round trips: a
// fresh run 2, a duplicate 2, a takeover and its end 4, a renewal 1; with [CompleteTx] a fresh run is 3, and what the effect reads.
//
// The documents can share a collection with those of Google's published sample: status, attempt_id, lease_expires and expire_at are
// the sample's fields with the sample's meaning. expire_at is meant for a TTL policy on the collection.
package firestoreclaim
