// Package spannerclaim keeps claims in a table of a Cloud Spanner database of the GoogleSQL dialect. It works with the emulator
// when SPANNER_EMULATOR_HOST is set.
//
// The store's clock is Spanner's: commit timestamps against the timestamp of a strong read, so no client's clock counts. A claim is
// a blind insert of one call; everything else is a statement on the version under a read-write transaction. In round trips: a claim
// 1 when won and 2 when lost, its end 2, a renewal 2, a takeover and its end 6.
//
// The table is made beforehand, by [Init], by the statement of [DDL] or by the command "runs init"; its row deletion policy removes
// what has expired.
package spannerclaim
