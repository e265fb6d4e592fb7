// Package serving runs the HTTP server of a handler as Cloud Run and its like expect it: it listens on the port that the platform
// names, answers health checks, and at SIGTERM lets running work end and replies go out.
package serving
