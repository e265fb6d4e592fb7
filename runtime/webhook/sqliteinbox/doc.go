// Package sqliteinbox keeps webhooks in a SQLite database file: one host, several processes, no server. It is the inbox for
// development, for tests, and for a single machine.
//
// The row of an event is a row of package sqliteclaim with the event beside it, so a work that writes to this database has its effect
// exactly once by sqliteclaim.CompleteTx:
//
//	func apply(ctx context.Context, e webhook.Event) error {
//		return sqliteclaim.CompleteTx(ctx, func(tx *sql.Tx) error {
//			latest, err := sqliteinbox.Later(ctx, tx, contact.ID, contact.Timestamp, e.ID)
//			if err != nil || !latest {
//				return cmp.Or(err, webhook.ErrSuperseded)
//			}
//			return store(ctx, tx, contact)
//		})
//	}
//
// [Open] creates what is missing in the file. The worker deletes what has expired.
package sqliteinbox
