//go:build race

package conformance_test

// raced says that the race detector watches, which makes everything several times as slow: the stores without a server of their own
// are enough then, and fewer histories.
const raced = true
