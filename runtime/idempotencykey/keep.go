package idempotencykey

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
)

// defaultKept are the headers that are stored with an answer and sent again: those that describe its body or name its result.
func defaultKept() []string {
	return []string{
		"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Etag",
		"Expires", "Last-Modified", "Link", "Location", "Vary",
	}
}

// neverKept are headers that belong to one connection, one moment or one browser.
func neverKept(name string) bool {
	switch name {
	case "Set-Cookie", "Date", "Content-Length", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	default:
		return false
	}
}

// keptHeaders is the allow-list in canonical spelling.
func keptHeaders(more []string) (map[string]bool, error) {
	kept := make(map[string]bool)
	for _, name := range slices.Concat(defaultKept(), more) {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if neverKept(canonical) {
			return nil, fmt.Errorf("KeepHeaders: %s belongs to one answer and is never stored: leave it out", name)
		}
		kept[canonical] = true
	}
	return kept, nil
}

// keepStatus says which answers are stored: everything below 500, but for the statuses that say "not now" or "not you". Those, and
// what the options say otherwise, release the key.
func keepStatus(status int, options map[int]bool) bool {
	if status >= http.StatusInternalServerError {
		return false
	}
	if keep, set := options[status]; set {
		return keep
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly,
		http.StatusTooManyRequests:
		return false
	default:
		return true
	}
}

// checkKeep holds the options to the client errors.
func checkKeep(options map[int]bool) error {
	for status := range options {
		if status < 400 || status > 499 {
			return fmt.Errorf("Keep: %d is not a client error: 2xx and 3xx are always kept, 5xx never; name statuses from 400 to 499", status)
		}
	}
	return nil
}
