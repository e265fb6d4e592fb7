// Package sqliteclaim keeps claims in a SQLite database file: one host, several processes, no server. It is the store for
// development, for tests, and for a single machine.
//
// The store's clock is that of the host. The database runs in write-ahead mode with full synchronisation, so an acknowledged claim
// survives a crash of the process and of the machine. SQLite has one writer at a time: a process that is stopped in the middle of a
// write holds up all others until it goes on or dies.
//
// One run costs two statements: an insert that decides the claim, an update that records the outcome. [CompleteTx] puts the effect
// and the outcome into one transaction. [Store.Purge] deletes what has expired; a scheduled handler calls it once an hour.
package sqliteclaim
