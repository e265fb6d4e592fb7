// Package differential holds the tests and benchmarks of unixcron beside github.com/robfig/cron/v3. They stand apart because the
// runtime links unixcron: what its own tests import would end in the go.sum of every handler.
package differential
