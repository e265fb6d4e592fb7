// Package runstore is the resource idempotent_run_store: the settings of the Firestore collection that claims are kept in. The
// collection itself comes with its first claim; what this resource owns is the expiry policy on expire_at and the exemption of those
// fields from single-field indexes that only ever cost. Claims are never touched.
package runstore
