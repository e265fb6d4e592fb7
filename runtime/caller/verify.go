package caller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

// VerifyConfig says which tokens [Verify] accepts.
type VerifyConfig struct {
	// Audiences are the audiences that a token may be made out to. At least one.
	Audiences []string
	// Callers are the accounts that may call: addresses, or *@PROJECT.iam.gserviceaccount.com for all service accounts of a
	// project. At least one.
	Callers []string
	// Issuer is the issuer of the tokens. Empty: Google.
	Issuer string
	// JWKSURL is where the issuer's keys are. Empty: Google's; another issuer needs one.
	JWKSURL string
	// Client fetches the keys. Nil, or without a timeout: five seconds.
	Client *http.Client
	// Now tells the time. Nil: time.Now.
	Now func() time.Time
	// Skew is how far the clocks of issuer and handler may be apart. Zero: DefaultSkew.
	Skew time.Duration
}

// Verify returns a checker that verifies tokens by itself. Keys are fetched when the first token comes, kept, and fetched again
// when a token names one that is not there; nothing goes over the network before.
func Verify(cfg VerifyConfig) (Checker, error) {
	allowed, err := newCallers(cfg.Callers)
	if err != nil {
		return nil, err
	}
	if len(cfg.Audiences) == 0 {
		return nil, errors.New("audiences is empty: list the audiences that tokens may be made out to, such as the URL of the service")
	}
	if slices.Contains(cfg.Audiences, "") {
		return nil, errors.New("audiences holds an empty text: leave it out")
	}
	if cfg.Issuer == "" {
		cfg.Issuer = googleIssuer
	}
	if cfg.JWKSURL == "" && cfg.Issuer != googleIssuer {
		return nil, fmt.Errorf("issuer %q is not Google: set the URL of its keys as well", cfg.Issuer)
	}
	if cfg.JWKSURL == "" {
		cfg.JWKSURL = googleKeys
	}
	if err := CheckKeysURL(cfg.JWKSURL); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Skew == 0 {
		cfg.Skew = DefaultSkew
	}
	return &verifier{
		cfg:     cfg,
		callers: allowed,
		tokens: oidc.NewVerifier(cfg.Issuer, newKeySet(cfg), &oidc.Config{
			SupportedSigningAlgs: []string{oidc.RS256, oidc.ES256},
			// The library knows one audience and one clock: both are checked here, against the list and with the skew.
			SkipClientIDCheck: true,
			SkipExpiryCheck:   true,
		}),
	}, nil
}

// CheckKeysURL returns an error unless keys can safely be fetched from there: over TLS, or from this machine.
func CheckKeysURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the URL of the keys is not an http or https URL: write it like " + googleKeys)
	}
	if u.Scheme == "http" && !loopback.Host(u.Hostname()) {
		return fmt.Errorf("the keys at %q would come in clear text, so that anybody on the way could replace them: use https", u.Host)
	}
	return nil
}

// loopbackPeer says whether the connection comes from this machine.
func loopbackPeer(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopback.Host(host)
}

type verifier struct {
	cfg     VerifyConfig
	callers callers
	tokens  *oidc.IDTokenVerifier
}

// Check verifies the bearer token of the request.
func (v *verifier) Check(r *http.Request) (Caller, error) {
	raw, err := bearer(r, "Authorization")
	if err != nil {
		return Caller{}, err
	}
	if _, removed := cutSignature(raw); removed {
		return Caller{}, refuse("the token's signature was removed by Cloud Run",
			"set IDEMPOTENT_CALLER to cloud_run_iam where Cloud Run checks callers itself", nil)
	}
	ctx, fetch := withFetch(r.Context())
	token, err := v.tokens.Verify(ctx, raw)
	if fetch.err != nil {
		return Caller{}, &Error{
			Status: http.StatusInternalServerError, Reason: "the issuer's keys could not be fetched",
			Remedy: "check that the handler can reach " + v.host(), Err: fetch.err,
		}
	}
	if err != nil {
		return Caller{}, refuse("the token is not valid", "give the job an oidc_token of the issuer "+v.cfg.Issuer, err)
	}
	var t claims
	if err := token.Claims(&t); err != nil {
		return Caller{}, refuse("the token's claims cannot be read", "give the job an oidc_token", err)
	}
	if err := t.checkTimes(v.cfg.Now(), v.cfg.Skew); err != nil {
		return Caller{}, err
	}
	if !slices.ContainsFunc(token.Audience, func(a string) bool { return slices.Contains(v.cfg.Audiences, a) }) {
		return Caller{}, refuse(fmt.Sprintf("the token is made out to %q, which is none of the handler's audiences", audience(token.Audience).describe()),
			"set the audience of the job's oidc_token to one of the handler's, or add it to the handler's", nil)
	}
	return v.callers.admit(t)
}

func (v *verifier) host() string {
	u, err := url.Parse(v.cfg.JWKSURL)
	if err != nil {
		return "the issuer"
	}
	return u.Host
}

// fetch holds the error of fetching keys, which the library's own error no longer tells from a bad signature.
type fetch struct{ err error }

type fetchKey struct{}

func withFetch(ctx context.Context) (context.Context, *fetch) {
	f := &fetch{}
	return context.WithValue(ctx, fetchKey{}, f), f
}
