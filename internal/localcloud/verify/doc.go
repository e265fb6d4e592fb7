// Package verify delivers to a handler, in whatever language it is written, everything that Cloud Scheduler and the world can deliver,
// and says which parts of the contract of a scheduled run hold.
//
// It judges by answers alone: the HTTP status and the header Idempotent-Run. Where the handler can tell how many effects its work has
// had so far, [Config.Effects] lets it judge by those, which cannot be mistaken.
package verify
