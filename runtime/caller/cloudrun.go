package caller

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"
)

// CloudRunConfig says which callers [CloudRunIAM] accepts.
type CloudRunConfig struct {
	// Callers are as in VerifyConfig. At least one.
	Callers []string
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
	// Now tells the time. Nil: time.Now.
	Now func() time.Time
}

// CloudRunIAM returns a checker for a Cloud Run service that only lets in callers with roles/run.invoker. Cloud Run has then
// verified the token, its audience included, and removed its signature; the token is read for who is calling and for nothing
// else. A service that is open to everybody must not use it: there such a token proves nothing, and the program cannot tell.
// Outside Cloud Run it is an error.
func CloudRunIAM(cfg CloudRunConfig) (Checker, error) {
	allowed, err := newCallers(cfg.Callers)
	if err != nil {
		return nil, err
	}
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Getenv("K_SERVICE") == "" {
		return nil, errors.New("this is not Cloud Run, where K_SERVICE is set: nobody has checked the tokens here; verify them instead")
	}
	return &cloudRun{callers: allowed, now: cfg.Now}, nil
}

type cloudRun struct {
	callers callers
	now     func() time.Time
}

// Check reads the token that Cloud Run left without its signature.
func (c *cloudRun) Check(r *http.Request) (Caller, error) {
	// With both headers Cloud Run checks X-Serverless-Authorization only, so that Authorization can hold anything.
	header := "Authorization"
	if len(r.Header.Values(serverlessAuthorization)) > 0 {
		header = serverlessAuthorization
	}
	raw, err := bearer(r, header)
	if err != nil {
		return Caller{}, err
	}
	payload, removed := cutSignature(raw)
	if !removed {
		return Caller{}, refuse("the token still has its signature, so Cloud Run has not checked it",
			"let Cloud Run check callers (no unauthenticated access), or set IDEMPOTENT_CALLER to verify", nil)
	}
	t, err := readClaims(payload)
	if err != nil {
		return Caller{}, refuse("the token's claims cannot be read", "give the job an oidc_token", err)
	}
	if !issuedBy(t.Issuer, googleIssuer) {
		return Caller{}, refuse("the token is not Google's", "give the job an oidc_token", nil)
	}
	if err := t.checkTimes(c.now(), DefaultSkew); err != nil {
		return Caller{}, err
	}
	return c.callers.admit(t)
}

const serverlessAuthorization = "X-Serverless-Authorization"

// cutSignature returns the payload part of a token whose signature was removed, and whether it was.
func cutSignature(token string) (string, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[2] != removedSignature {
		return "", false
	}
	return parts[1], true
}

func readClaims(payload string) (claims, error) {
	var t claims
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}
