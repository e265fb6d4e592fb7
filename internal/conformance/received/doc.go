// Package received holds generated services that others call to their promise, end to end, as modules and processes of their own: a
// receiver of webhooks that is killed at random moments while its sender retries, and an API that its clients hammer through a network
// that loses replies. What their users would have written is in testdata.
package received
