// Package postgresclaim keeps claims in a table of a PostgreSQL database (9.5 or later; Cloud SQL and AlloyDB too).
//
// The store's clock is the server's. In round trips: a claim is 1, won or lost, a takeover 2, its end 1, a renewal 1, also on a new
// connection, since statements are sent without being prepared; [CompleteTx] adds a begin and a commit. A statement waits one
// second for a lock and then counts as a conflict, which is tried again.
//
// The table is made beforehand, by [Init], by the statements of [DDL] or by the command "runs init". [Store.Purge] deletes what has
// expired; a scheduled handler calls it once an hour.
package postgresclaim
