// Package forward holds the forwarders to their promise: one execution for each run, whatever is lost on the way.
//
// A [World] is what Workflows, Cloud Run and Cloud Build share here: servers of the official APIs with state, which lose replies, apply
// calls after their callers gave up and list what they started late.
package forward
