// Package idempotencykey holds the tests of runtime/idempotencykey that need real stores or tools which no user's go.sum should carry:
// an API hammered by retrying clients through a bad network, a model that random histories are checked against, and benchmarks beside
// another middleware.
package idempotencykey
