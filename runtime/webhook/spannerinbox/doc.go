// Package spannerinbox keeps a webhook inbox in a table of a Cloud Spanner database of the GoogleSQL dialect, one row an event, named
// by the event's id. It works with the emulator when SPANNER_EMULATOR_HOST is set.
//
// A row is a row of package spannerclaim with the event beside the claim, so that [spannerclaim.CompleteTx] writes the effect of a
// webhook's work and the completion of its event in one transaction. All times are Spanner's. In round trips: accepting an event 2, one
// that is there already 3, a search for due events 3, or 1 when nothing is due.
//
// Work is found by an index on the due time of undone events alone: both it and the generated column it stands on are NULL once an
// event is done, so that the index is as small as the backlog. Due times grow with the clock, and an index that begins with them would
// send every write of the inbox to the one server that holds its end. So the index begins with a shard, one of 16 by the hash of the
// id, and a search takes the first of each shard and merges them: 16 ranges take the writes, at the price of 16 short seeks a search.
//
// Spanner has no SKIP LOCKED. A search therefore looks without locks and then takes what it found row by row, by the key; of workers
// that find the same rows one gets them, the others search again.
//
// Completed rows are removed by the table's row deletion policy. The tables are made beforehand, by [Init] or by the statements of
// [DDL].
package spannerinbox
