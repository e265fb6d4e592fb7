package idempotencykey

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strings"
)

// fingerprintVersion tells fingerprints of one composition from those of another.
const fingerprintVersion = "v1:"

// Fingerprint names a request: method, endpoint (with its path parameters), query string, body, each byte for byte, so that another
// spacing of JSON is another request. Each part is hashed after its length: no two different requests are composed alike.
func Fingerprint(method, endpoint, rawQuery string, body []byte) string {
	parts := make([]byte, 0, 3*8+len(method)+len(endpoint)+len(rawQuery))
	for _, part := range []string{method, endpoint, rawQuery} {
		parts = binary.BigEndian.AppendUint64(parts, uint64(len(part)))
		parts = append(parts, part...)
	}
	h := sha256.New()
	_, _ = h.Write(parts) // a hash takes everything
	_, _ = h.Write(body)  // the last part needs no length
	sum := h.Sum(parts[:0])
	return string(hex.AppendEncode([]byte(fingerprintVersion), sum))
}

// requestPath is the path as the client sent it. The URL of a request may have been cut by http.StripPrefix, and two endpoints must
// not look alike for that.
func requestPath(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, _, _ := strings.Cut(r.RequestURI, "?")
		return path
	}
	return r.URL.EscapedPath()
}
