package localcloud

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	discoveryPath = "/.well-known/openid-configuration"
	jwksPath      = "/jwks"
	keyBits       = 2048
	tokenLife     = time.Hour
	// tokenReuse leaves a token handed out at the end of its reuse enough life for the longest attempt.
	tokenReuse = 25 * time.Minute
)

// issuer signs OpenID Connect tokens as accounts.google.com does for service accounts. Tokens carry real time, whatever the cloud's
// clock says.
type issuer struct {
	url string

	mu     sync.Mutex
	key    *rsa.PrivateKey // made at first use: most clouds of a test never sign anything
	keyID  string
	signer jose.Signer
	cache  map[[2]string]cachedToken
}

type cachedToken struct {
	token string
	until time.Time
}

// claims are what Google puts into a service account's ID token.
type claims struct {
	Issuer        string `json:"iss"`
	Audience      string `json:"aud"`
	Authorized    string `json:"azp"`
	Subject       string `json:"sub"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	IssuedAt      int64  `json:"iat"`
	Expires       int64  `json:"exp"`
}

// prepare makes the key. The caller holds i.mu.
func (i *issuer) prepare() error {
	if i.key != nil {
		return nil
	}

	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return fmt.Errorf("make the signing key: %w", err)
	}

	sum := sha256.Sum256(key.N.Bytes())
	id := hex.EncodeToString(sum[:20])

	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}},
		(&jose.SignerOptions{}).WithType("JWT"),
	)
	if err != nil {
		return fmt.Errorf("prepare signing: %w", err)
	}

	i.key, i.keyID, i.signer, i.cache = key, id, signer, map[[2]string]cachedToken{}

	return nil
}

// token returns a signed token of an account for an audience. One is reused for 25 minutes.
func (i *issuer) token(account, audience string) (string, error) {
	if account == "" || audience == "" {
		return "", errors.New("a token needs a service account and an audience")
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	err := i.prepare()
	if err != nil {
		return "", err
	}

	now := time.Now()

	cached, found := i.cache[[2]string{account, audience}]
	if found && now.Before(cached.until) {
		return cached.token, nil
	}

	subject := subjectOf(account)

	payload, err := json.Marshal(claims{
		Issuer: i.url, Audience: audience, Authorized: subject, Subject: subject, Email: account, EmailVerified: true,
		IssuedAt: now.Unix(), Expires: now.Add(tokenLife).Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("encode the token: %w", err)
	}

	signed, err := i.signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign the token: %w", err)
	}

	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("write the token: %w", err)
	}

	i.cache[[2]string{account, audience}] = cachedToken{token: token, until: now.Add(tokenReuse)}

	return token, nil
}

// accessToken returns an opaque token in the form of an OAuth access token. It is good for nothing but being seen.
func (i *issuer) accessToken(account, scope string) (string, error) {
	if account == "" {
		return "", errors.New("a token needs a service account")
	}

	sum := sha256.Sum256([]byte(i.url + "\x00" + account + "\x00" + scope))

	return "ya29.local-" + hex.EncodeToString(sum[:]), nil
}

// subjectOf is the unique id of an account: 21 digits, the same in every cloud.
func subjectOf(account string) string {
	sum := sha256.Sum256([]byte(account))
	id := new(big.Int).SetBytes(sum[:])
	id.Mod(id, new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil))

	return fmt.Sprintf("1%020d", id)
}

func (i *issuer) serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                i.url,
		"jwks_uri":                              i.url + jwksPath,
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"claims_supported":                      []string{"aud", "azp", "email", "email_verified", "exp", "iat", "iss", "sub"},
	})
}

func (i *issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	err := i.prepare()
	key, id := i.key, i.keyID
	i.mu.Unlock()

	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Cache-Control", "public, max-age=300")
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: id, Algorithm: string(jose.RS256), Use: "sig"},
	}})
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)

	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// A client that went away is no concern of the server.
	_ = encoder.Encode(value)
}
