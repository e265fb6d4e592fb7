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
	h := sha256.New()
	var length [8]byte
	for _, part := range []string{method, endpoint, rawQuery} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = h.Write(length[:]) // a hash takes everything
		_, _ = h.Write([]byte(part))
	}
	_, _ = h.Write(body) // the last part needs no length
	var sum [sha256.Size]byte
	out := make([]byte, len(fingerprintVersion)+hex.EncodedLen(len(sum)))
	hex.Encode(out[copy(out, fingerprintVersion):], h.Sum(sum[:0]))
	return string(out)
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
