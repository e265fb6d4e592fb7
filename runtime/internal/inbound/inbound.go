// Package inbound is what the handlers of requests have in common.
package inbound

import (
	"net/http"
	"time"
)

// Read reads the body of a request by read, and gives the caller so long to send it. No setting of the server does so without also cutting
// the work. Not every server can bound it; those that cannot do it themselves.
func Read(w http.ResponseWriter, d time.Duration, read func() ([]byte, error)) ([]byte, error) {
	control := http.NewResponseController(w)
	bounded := control.SetReadDeadline(time.Now().Add(d)) == nil
	body, err := read()
	if bounded && err == nil { // otherwise it stands: the server waits for the rest of a body before it sends the answer
		_ = control.SetReadDeadline(time.Time{}) // it could before
	}
	return body, err
}
