// Package postgresinbox keeps webhooks in a table of a PostgreSQL database (9.6 or later; Cloud SQL and AlloyDB too).
//
// The row of an event is a row of package postgresclaim with the event beside it, so a work that writes to this database has its effect
// exactly once by postgresclaim.CompleteTx:
//
//	func apply(ctx context.Context, e webhook.Event) error {
//		return postgresclaim.CompleteTx(ctx, func(tx pgx.Tx) error {
//			latest, err := postgresinbox.Later(ctx, tx, contact.ID, contact.Timestamp, e.ID)
//			if err != nil || !latest {
//				return cmp.Or(err, webhook.ErrSuperseded)
//			}
//			return store(ctx, tx, contact)
//		})
//	}
//
// Storing an event is one statement, finding due ones is one (FOR UPDATE SKIP LOCKED), an attempt is three: a read, a claim and its end.
// Tables are made beforehand, by [Init] or by the statements of [DDL]. The worker deletes what has expired.
package postgresinbox
