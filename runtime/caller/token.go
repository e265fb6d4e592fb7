package caller

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// DefaultSkew is how far the clocks of issuer and handler may be apart.
const DefaultSkew = 60 * time.Second

const (
	googleIssuer     = "https://accounts.google.com"
	googleIssuerBare = "accounts.google.com"
	googleKeys       = "https://www.googleapis.com/oauth2/v3/certs"

	// removedSignature stands where the signature was in a token that Cloud Run has checked.
	removedSignature = "SIGNATURE_REMOVED_BY_GOOGLE"
)

// claims are those claims of a token that say who is calling.
type claims struct {
	Issuer        string     `json:"iss"`
	Subject       string     `json:"sub"`
	Email         string     `json:"email"`
	EmailVerified looseBool  `json:"email_verified"`
	Expiry        numericAge `json:"exp"`
	NotBefore     numericAge `json:"nbf"`
}

// looseBool also reads "true", which some issuers write for a boolean claim.
type looseBool bool

func (b *looseBool) UnmarshalJSON(text []byte) error {
	s := string(text)
	*b = s == "true" || s == `"true"`
	return nil
}

// numericAge is seconds since 1970, possibly with a fraction. Zero: not given.
type numericAge float64

func (n *numericAge) UnmarshalJSON(text []byte) error {
	var f float64
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*n = numericAge(f)
	return nil
}

func (n numericAge) time() time.Time {
	const farthest = 253402300799 // the last second of the year 9999
	return time.Unix(int64(max(0, min(float64(n), farthest))), 0)
}

// issuedBy compares issuers; Google writes its own in two ways.
func issuedBy(got, want string) bool {
	return got == want || want == googleIssuer && got == googleIssuerBare
}

// checkTimes refuses a token outside its time, give or take the skew.
func (t claims) checkTimes(now time.Time, skew time.Duration) error {
	switch {
	case t.Expiry == 0:
		return refuse("the token has no expiry", "call with an OIDC token that expires", nil)
	case now.Add(-skew).After(t.Expiry.time()):
		return refuse("the token has expired", "call with a fresh token, and check the clocks of both sides", nil)
	case t.NotBefore != 0 && now.Add(skew).Before(t.NotBefore.time()):
		return refuse("the token is not valid yet", "check the clocks of both sides", nil)
	}
	return nil
}

// bearer returns the token of a request.
func bearer(r *http.Request, header string) (string, error) {
	const remedy = "give the job an oidc_token with a service account"
	values := r.Header.Values(header)
	switch {
	case len(values) == 0:
		return "", refuse("the request carries no token", remedy, nil)
	case len(values) > 1:
		return "", refuse("the request carries more than one "+header+" header", remedy, nil)
	}
	scheme, token, found := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimSpace(token)
	if !found || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", refuse("the "+header+" header holds no bearer token", remedy, nil)
	}
	if strings.Count(token, ".") != 2 {
		return "", refuse("the token is not an OIDC token", "give the job an oidc_token; an oauth_token is for Google's own APIs", nil)
	}
	return token, nil
}

// refuse makes the error for a token that is missing or bad.
func refuse(reason, remedy string, err error) error {
	return &Error{Status: http.StatusUnauthorized, Reason: reason, Remedy: remedy, Err: err}
}

// audience reads one audience or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(text, &many); err != nil {
		return err
	}
	*a = many
	return nil
}

// describe names the audiences of a token without their queries, which may hold what is nobody else's business.
func (a audience) describe() string {
	bare := slices.Clone(a)
	for i, s := range bare {
		if before, _, found := strings.Cut(s, "?"); found {
			bare[i] = before + "?…"
		}
	}
	return strings.Join(bare, ", ")
}
