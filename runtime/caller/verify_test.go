package caller_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller/callertest"
)

const (
	account  = "scheduler@acme-prod.iam.gserviceaccount.com"
	audience = "https://nightly.example.com"
)

func request(authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	return r
}

func verifier(t *testing.T, issuer *callertest.Issuer, change func(*caller.VerifyConfig)) caller.Checker {
	t.Helper()
	cfg := caller.VerifyConfig{
		Audiences: []string{"https://other.example.com", audience}, Callers: []string{account},
		Issuer: issuer.URL(), JWKSURL: issuer.JWKSURL(),
	}
	if change != nil {
		change(&cfg)
	}
	checker, err := caller.Verify(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

// wantRefusal compares the status and the whole message.
func wantRefusal(t *testing.T, name string, err error, status int, message string) {
	t.Helper()
	var refused *caller.Error
	if !errors.As(err, &refused) || refused.Status != status || err.Error() != message {
		t.Errorf("%s: got %v; want %d %s", name, err, status, message)
	}
}

func TestVerifyAcceptsAGoodToken(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	checker := verifier(t, issuer, nil)
	want := caller.Caller{Email: account, Subject: "subject of " + account, ProjectFromEmail: "acme-prod", Verified: true}
	several := issuer.Claims(account, "")
	several["aud"] = []string{"https://nobody.example.com", audience}
	for name, authorization := range map[string]string{
		"plain":             "Bearer " + issuer.Token(t, account, audience),
		"lower-case scheme": "bearer " + issuer.Token(t, account, audience),
		"several audiences": "Bearer " + issuer.Sign(t, several),
	} {
		if got, err := checker.Check(request(authorization)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, want)
		}
	}
	if n := issuer.Fetches(); n != 1 {
		t.Errorf("the keys were fetched %d times; want once", n)
	}
}

func TestVerifyRefusesBadTokensAndCallers(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	stranger := callertest.New(t)
	checker := verifier(t, issuer, nil)
	with := func(change func(map[string]any)) string {
		c := issuer.Claims(account, audience)
		change(c)
		return "Bearer " + issuer.Sign(t, c)
	}
	good := issuer.Token(t, account, audience)
	parts := strings.Split(good, ".")
	none := callertest.Part(t, map[string]any{"alg": "none"}) + "." + parts[1] + "."
	hmac := callertest.Part(t, map[string]any{"alg": "HS256", "kid": "1"}) + "." + parts[1] + "." + parts[2]
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	const invalid = "the token is not valid: give the job an oidc_token of the issuer "

	for _, test := range []struct {
		name          string
		authorization []string
		status        int
		message       string
	}{
		{"none", nil, 401, "the request carries no token: give the job an oidc_token with a service account"},
		{"two", []string{"Bearer " + good, "Bearer " + good}, 401, "the request carries more than one Authorization header: give the job an oidc_token with a service account"},
		{"basic", []string{"Basic abc"}, 401, "the Authorization header holds no bearer token: give the job an oidc_token with a service account"},
		{"empty", []string{"Bearer "}, 401, "the Authorization header holds no bearer token: give the job an oidc_token with a service account"},
		{"OAuth", []string{"Bearer ya29.abc"}, 401, "the token is not an OIDC token: give the job an oidc_token; an oauth_token is for Google's own APIs"},
		{"garbage", []string{"Bearer a.b.c"}, 401, invalid + issuer.URL()},
		{"removed signature", []string{"Bearer " + parts[0] + "." + parts[1] + ".SIGNATURE_REMOVED_BY_GOOGLE"}, 401, "the token's signature was removed by Cloud Run: set IDEMPOTENT_CALLER to cloud_run_iam where Cloud Run checks callers itself"},
		{"algorithm none", []string{"Bearer " + none}, 401, invalid + issuer.URL()},
		{"algorithm HMAC", []string{"Bearer " + hmac}, 401, invalid + issuer.URL()},
		{"another's key", []string{"Bearer " + stranger.Token(t, account, audience)}, 401, invalid + issuer.URL()},
		{"another issuer", []string{with(func(c map[string]any) { c["iss"] = "https://evil.example.com" })}, 401, invalid + issuer.URL()},
		{"Google's issuer elsewhere", []string{with(func(c map[string]any) { c["iss"] = "accounts.google.com" })}, 401, invalid + issuer.URL()},
		{"audience", []string{with(func(c map[string]any) { c["aud"] = "https://x.example.com/a?key=secret" })}, 401, `the token is made out to "https://x.example.com/a?…", which is none of the handler's audiences: set the audience of the job's oidc_token to one of the handler's, or add it to the handler's`},
		{"expired", []string{with(func(c map[string]any) { c["exp"] = ago(2 * time.Minute) })}, 401, "the token has expired: call with a fresh token, and check the clocks of both sides"},
		{"no expiry", []string{with(func(c map[string]any) { delete(c, "exp") })}, 401, "the token has no expiry: call with an OIDC token that expires"},
		{"not yet", []string{with(func(c map[string]any) { c["nbf"] = ago(-2 * time.Minute) })}, 401, "the token is not valid yet: check the clocks of both sides"},
		{"odd claims", []string{with(func(c map[string]any) { c["email"] = 7 })}, 401, "the token's claims cannot be read: give the job an oidc_token"},
		{"no email", []string{with(func(c map[string]any) { delete(c, "email") })}, 403, "the token names no email address: call with the OIDC token of a service account, as Cloud Scheduler's oidc_token makes it"},
		{"email not verified", []string{with(func(c map[string]any) { c["email_verified"] = false })}, 403, `the email address "` + account + `" of the token is not verified: call with the OIDC token of a service account`},
		{"another caller", []string{with(func(c map[string]any) { c["email"] = "eve@acme-prod.iam.gserviceaccount.com" })}, 403, `caller "eve@acme-prod.iam.gserviceaccount.com" is not allowed: add the job's service account to the handler's list of callers`},
	} {
		_, err := checker.Check(request(test.authorization...))
		wantRefusal(t, test.name, err, test.status, test.message)
		for _, a := range test.authorization {
			if secret := strings.TrimPrefix(a, "Bearer "); len(secret) > 20 && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error holds the token", test.name)
			}
		}
	}
}

func TestVerifyAllowsSixtySecondsBetweenTheClocks(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	base := time.Now().Truncate(time.Second)
	claims := issuer.Claims(account, audience)
	claims["exp"], claims["nbf"] = base.Unix(), base.Add(-time.Minute).Unix()
	token := "Bearer " + issuer.Sign(t, claims)
	for _, test := range []struct {
		clock time.Time
		ok    bool
	}{
		{base.Add(59 * time.Second), true},
		{base.Add(61 * time.Second), false},
		{base.Add(-119 * time.Second), true},
		{base.Add(-121 * time.Second), false},
	} {
		checker := verifier(t, issuer, func(c *caller.VerifyConfig) { c.Now = func() time.Time { return test.clock } })
		if _, err := checker.Check(request(token)); (err == nil) != test.ok {
			t.Errorf("%v from the expiry: got %v; want ok = %v", test.clock.Sub(base), err, test.ok)
		}
	}
}

func TestVerifyAcceptsBothSpellingsOfGoogle(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	checker := verifier(t, issuer, func(c *caller.VerifyConfig) { c.Issuer = "" })
	for _, name := range []string{"https://accounts.google.com", "accounts.google.com"} {
		claims := issuer.Claims(account, audience)
		claims["iss"] = name
		if _, err := checker.Check(request("Bearer " + issuer.Sign(t, claims))); err != nil {
			t.Errorf("issuer %s: %v", name, err)
		}
	}
}

func TestVerifyTellsUnreachableKeysFromABadToken(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	issuer.Break(true)
	checker := verifier(t, issuer, nil)
	host := strings.TrimPrefix(issuer.URL(), "http://")
	token := "Bearer " + issuer.Token(t, account, audience)
	_, err := checker.Check(request(token))
	wantRefusal(t, "broken", err, 500, "the issuer's keys could not be fetched: check that the handler can reach "+host)
	issuer.Break(false)
	if _, err := checker.Check(request(token)); err != nil {
		t.Errorf("the keys are back, and the token is refused: %v", err)
	}
}

func TestVerifyGivesUpOnKeysThatDoNotCome(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hold) })
	issuer := callertest.New(t)
	checker := verifier(t, issuer, func(c *caller.VerifyConfig) {
		c.JWKSURL, c.Client = server.URL, &http.Client{Timeout: 20 * time.Millisecond}
	})
	_, err := checker.Check(request("Bearer " + issuer.Token(t, account, audience)))
	wantRefusal(t, "slow", err, 500, "the issuer's keys could not be fetched: check that the handler can reach "+strings.TrimPrefix(server.URL, "http://"))
}

func TestVerifyDoesNotAskTheIssuerForEachForgedToken(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	forger := callertest.New(t)
	checker := verifier(t, issuer, nil)
	forged := "Bearer " + forger.Token(t, account, audience)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := checker.Check(request(forged)); err == nil {
				t.Error("a forged token is accepted")
			}
		})
	}
	all.Wait()
	if n := issuer.Fetches(); n != 1 {
		t.Errorf("20 forged tokens caused %d fetches; want 1", n)
	}
}

func TestVerifyLearnsANewKey(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	var ahead atomic.Int64
	checker := verifier(t, issuer, func(c *caller.VerifyConfig) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	old := "Bearer " + issuer.Token(t, account, audience)
	if _, err := checker.Check(request(old)); err != nil {
		t.Fatal(err)
	}
	issuer.Rotate(t)
	ahead.Store(int64(10 * time.Second))
	if _, err := checker.Check(request("Bearer " + issuer.Token(t, account, audience))); err != nil {
		t.Errorf("a token of the new key is refused: %v", err)
	}
	if _, err := checker.Check(request(old)); err == nil {
		t.Error("a token of the key that was withdrawn is accepted")
	}
}

func TestVerifyRefusesASetupThatWouldNotVerify(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]caller.VerifyConfig{
		"callers is empty: list the service accounts that may call, since a token for the right audience can be had by anybody": {Audiences: []string{"a"}},
		"audiences is empty: list the audiences that tokens may be made out to, such as the URL of the service":                 {Callers: []string{account}},
		"audiences holds an empty text: leave it out":                                                                           {Audiences: []string{""}, Callers: []string{account}},
		`issuer "https://i.example.com" is not Google: set the URL of its keys as well`:                                         {Audiences: []string{"a"}, Callers: []string{account}, Issuer: "https://i.example.com"},
		"the URL of the keys is not an http or https URL: write it like https://www.googleapis.com/oauth2/v3/certs":             {Audiences: []string{"a"}, Callers: []string{account}, JWKSURL: "keys.json"},
		`the keys at "keys.example.com" would come in clear text, so that anybody on the way could replace them: use https`:     {Audiences: []string{"a"}, Callers: []string{account}, JWKSURL: "http://keys.example.com/x"},
		`"scheduler" is not the address of an account: write it like NAME@PROJECT.iam.gserviceaccount.com`:                      {Audiences: []string{"a"}, Callers: []string{"scheduler"}},
		`"s*@acme.iam.gserviceaccount.com" has a * in the wrong place: only *@PROJECT.iam.gserviceaccount.com is allowed`:       {Audiences: []string{"a"}, Callers: []string{"s*@acme.iam.gserviceaccount.com"}},
		`"*@gmail.com" would allow accounts that are not one project's: only *@PROJECT.iam.gserviceaccount.com is allowed`:      {Audiences: []string{"a"}, Callers: []string{"*@gmail.com"}},
	} {
		if _, err := caller.Verify(cfg); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}

func TestAWholeProjectOfServiceAccountsCanBeAllowed(t *testing.T) {
	t.Parallel()
	issuer := callertest.New(t)
	checker := verifier(t, issuer, func(c *caller.VerifyConfig) {
		c.Callers = []string{caller.ServiceAccountsOf("example.com:proj"), "123-compute@developer.gserviceaccount.com"}
	})
	for email, project := range map[string]string{
		"a@proj.example.com.iam.gserviceaccount.com": "example.com:proj",
		"123-compute@developer.gserviceaccount.com":  "",
	} {
		if got, err := checker.Check(request("Bearer " + issuer.Token(t, email, audience))); err != nil || got.ProjectFromEmail != project {
			t.Errorf("%s: got %+v, %v; want project %q", email, got, err, project)
		}
	}
	for _, email := range []string{"a@proj.iam.gserviceaccount.com", "a@evil.proj.example.com.iam.gserviceaccount.com", "124-compute@developer.gserviceaccount.com", "a@b.c"} {
		if _, err := checker.Check(request("Bearer " + issuer.Token(t, email, audience))); err == nil {
			t.Errorf("%s may call", email)
		}
	}
}

func TestProjectOfReadsServiceAccountsOnly(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		"a@acme.iam.gserviceaccount.com":             "acme",
		"a@proj.example.com.iam.gserviceaccount.com": "example.com:proj",
		"a@developer.gserviceaccount.com":            "",
		"a@.iam.gserviceaccount.com":                 "",
		"a@x..iam.gserviceaccount.com":               "",
		"@acme.iam.gserviceaccount.com":              "",
		"acme.iam.gserviceaccount.com":               "",
		"a@acme.iam.gserviceaccount.com.evil.com":    "",
	} {
		if got, ok := caller.ProjectOf(email); got != want || ok != (want != "") {
			t.Errorf("ProjectOf(%q) = %q, %v; want %q", email, got, ok, want)
		}
	}
}
