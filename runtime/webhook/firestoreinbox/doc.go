// Package firestoreinbox keeps a webhook inbox in a collection of a Cloud Firestore database, one document an event, named by the
// event's id. It works with Native mode, and with the emulator when FIRESTORE_EMULATOR_HOST is set.
//
// A document is a document of package firestoreclaim with the event beside the claim, whose writes leave the event's fields as they are;
// so [firestoreclaim.CompleteTx] writes the effect of a webhook's work and the completion of its event in one transaction. All times
// are the server's. In calls: accepting an event 1, one that is there already 2, a search for due events 2.
//
// A search writes nothing: in Firestore the update time is the version of a claim and the start of its lease. Workers that search at
// once find the same events; the claim decides whose each one is, and a worker that lost one goes on to the next.
//
// The collection needs what [DDL] prints, once, as commands or in Terraform:
//
//	resource "google_firestore_index" "webhook_inbox_due" {
//	  collection = "webhook_inbox"
//	  fields {
//	    field_path = "status"
//	    order      = "ASCENDING"
//	  }
//	  fields {
//	    field_path = "lease_expires"
//	    order      = "ASCENDING"
//	  }
//	}
//
//	resource "google_firestore_field" "webhook_inbox_ttl" {
//	  collection = "webhook_inbox"
//	  field      = "expire_at"
//	  ttl_config {}
//	}
//
//	resource "google_firestore_field" "webhook_inbox_payload" {
//	  collection = "webhook_inbox"
//	  field      = "payload"
//	  index_config {}
//	}
//
// The index is that of the search, which fails without it; accepting does not need it. The TTL policy removes completed events, the only
// ones with an expire_at. That payloads are not indexed saves their writes.
//
// Firestore takes about 500 writes a second into a collection with an index on times that grow, and this index is one: an inbox for more
// than a hundred events a second or so belongs in Spanner or PostgreSQL, or in several collections.
package firestoreinbox
