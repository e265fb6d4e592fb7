// Package callertest issues OpenID Connect tokens for tests of handlers, with real signatures and real keys on loopback.
package callertest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer signs tokens and serves the keys that verify them. Its methods may be called at the same time.
type Issuer struct {
	server  *httptest.Server
	fetches atomic.Int64
	broken  atomic.Bool

	mu  sync.Mutex
	key *rsa.PrivateKey
	kid int
}

// New starts an issuer that ends with the test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{}
	i.Rotate(tb)
	i.server = httptest.NewServer(http.HandlerFunc(i.serveKeys))
	tb.Cleanup(i.server.Close)
	return i
}

// URL is the issuer's name, the iss claim of its tokens.
func (i *Issuer) URL() string { return i.server.URL }

// JWKSURL is where its keys are.
func (i *Issuer) JWKSURL() string { return i.server.URL + "/jwks" }

// Fetches counts how often the keys were asked for.
func (i *Issuer) Fetches() int { return int(i.fetches.Load()) }

// Break makes the keys unavailable, or available again.
func (i *Issuer) Break(broken bool) { i.broken.Store(broken) }

// Rotate replaces the key by a new one with another id.
func (i *Issuer) Rotate(tb testing.TB) {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.kid = key, i.kid+1
}

// Claims returns the claims of a good token of a service account: valid from now on for one hour.
func (i *Issuer) Claims(email, audience string) map[string]any {
	now := time.Now()
	return map[string]any{
		"iss": i.URL(), "sub": "subject of " + email, "email": email, "email_verified": true, "aud": audience,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

// Token returns a good token of a service account.
func (i *Issuer) Token(tb testing.TB, email, audience string) string {
	tb.Helper()
	return i.Sign(tb, i.Claims(email, audience))
}

// Sign returns a token with these claims.
func (i *Issuer) Sign(tb testing.TB, claims map[string]any) string {
	tb.Helper()
	i.mu.Lock()
	key, kid := i.key, i.kid
	i.mu.Unlock()
	unsigned := Part(tb, map[string]any{"alg": "RS256", "typ": "JWT", "kid": strconv.Itoa(kid)}) + "." + Part(tb, claims)
	digest := sha256.Sum256([]byte(unsigned))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	return unsigned + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Part encodes one part of a token.
func Part(tb testing.TB, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func (i *Issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	i.fetches.Add(1)
	if i.broken.Load() {
		http.Error(w, "out of order", http.StatusBadGateway)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	encode := base64.RawURLEncoding.EncodeToString
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": strconv.Itoa(i.kid),
		"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}
