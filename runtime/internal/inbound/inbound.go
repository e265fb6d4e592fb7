// Package inbound is what the handlers of requests have in common.
package inbound

import (
	"net/http"
	"time"
)

// Patience gives the caller so long to send its body, and returns what ends that once the body was read. No setting of the server does so
// without also cutting the work. Not every server can bound it; those that cannot do it themselves.
func Patience(w http.ResponseWriter, d time.Duration) (end func()) {
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(d)) != nil {
		return func() {}
	}
	return func() { _ = control.SetReadDeadline(time.Time{}) } // it could before
}
