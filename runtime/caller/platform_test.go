package caller_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller/callertest"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// stripped returns a token as Cloud Run hands it on.
func stripped(t *testing.T, change func(map[string]any)) string {
	t.Helper()
	claims := map[string]any{
		"iss": "https://accounts.google.com", "email": account, "email_verified": true, "sub": "7", "aud": "any",
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	if change != nil {
		change(claims)
	}
	return callertest.Part(t, map[string]any{"alg": "RS256"}) + "." + callertest.Part(t, claims) + ".SIGNATURE_REMOVED_BY_GOOGLE"
}

func TestCloudRunIAMReadsTheTokenThatThePlatformChecked(t *testing.T) {
	t.Parallel()
	checker, err := caller.CloudRunIAM(caller.CloudRunConfig{Callers: []string{account}, Getenv: environment("K_SERVICE", "nightly")})
	if err != nil {
		t.Fatal(err)
	}
	want := caller.Caller{Email: account, Subject: "7", ProjectFromEmail: "acme-prod", Verified: true}
	if got, err := checker.Check(request("Bearer " + stripped(t, nil))); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	both := request("Bearer " + stripped(t, nil))
	both.Header.Set("X-Serverless-Authorization", "Bearer "+stripped(t, func(c map[string]any) { c["email"] = "eve@evil.iam.gserviceaccount.com" }))
	_, err = checker.Check(both)
	wantRefusal(t, "both headers", err, 403, `caller "eve@evil.iam.gserviceaccount.com" is not allowed: add the job's service account to the handler's list of callers`)
}

func TestCloudRunIAMRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	checker, err := caller.CloudRunIAM(caller.CloudRunConfig{Callers: []string{account}, Getenv: environment("K_SERVICE", "nightly")})
	if err != nil {
		t.Fatal(err)
	}
	signed := callertest.New(t).Token(t, account, audience)
	token := stripped(t, nil)
	for _, test := range []struct {
		name, token string
		status      int
		message     string
	}{
		{"signed", signed, 401, "the token still has its signature, so Cloud Run has not checked it: let Cloud Run check callers (no unauthenticated access), or set IDEMPOTENT_CALLER to verify"},
		{"empty signature", strings.TrimSuffix(token, "SIGNATURE_REMOVED_BY_GOOGLE"), 401, "the token still has its signature, so Cloud Run has not checked it: let Cloud Run check callers (no unauthenticated access), or set IDEMPOTENT_CALLER to verify"},
		{"not base64", "a.!!.SIGNATURE_REMOVED_BY_GOOGLE", 401, "the token's claims cannot be read: give the job an oidc_token"},
		{"another issuer", stripped(t, func(c map[string]any) { c["iss"] = "https://evil.example.com" }), 401, "the token is not Google's: give the job an oidc_token"},
		{"expired", stripped(t, func(c map[string]any) { c["exp"] = time.Now().Add(-2 * time.Minute).Unix() }), 401, "the token has expired: call with a fresh token, and check the clocks of both sides"},
		{"not verified", stripped(t, func(c map[string]any) { c["email_verified"] = false }), 403, `the email address "` + account + `" of the token is not verified: call with the OIDC token of a service account`},
		{"another caller", stripped(t, func(c map[string]any) { c["email"] = "eve@acme-prod.iam.gserviceaccount.com" }), 403, `caller "eve@acme-prod.iam.gserviceaccount.com" is not allowed: add the job's service account to the handler's list of callers`},
	} {
		_, err := checker.Check(request("Bearer " + test.token))
		wantRefusal(t, test.name, err, test.status, test.message)
	}
}

func TestPlatformCheckersRefuseToWorkElsewhere(t *testing.T) {
	t.Parallel()
	_, err := caller.CloudRunIAM(caller.CloudRunConfig{Callers: []string{account}, Getenv: environment()})
	wantError(t, err, "this is not Cloud Run, where K_SERVICE is set: nobody has checked the tokens here; verify them instead")
	_, err = caller.CloudRunIAM(caller.CloudRunConfig{Getenv: environment("K_SERVICE", "nightly")})
	wantError(t, err, "callers is empty: list the service accounts that may call, since a token for the right audience can be had by anybody")
	_, err = caller.AppEngine(caller.AppEngineConfig{Getenv: environment("GAE_ENV", "standard")})
	wantError(t, err, "this is not App Engine standard, where GAE_ENV is standard and GAE_SERVICE is set: nobody strips forged headers here; verify tokens instead")
	_, err = caller.Insecure(caller.InsecureConfig{Getenv: environment("K_SERVICE", "nightly")})
	wantError(t, err, "callers cannot go unchecked on Cloud Run or App Engine, where no request comes from this machine: verify tokens instead")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestAppEngineAcceptsWhatThePlatformSets(t *testing.T) {
	t.Parallel()
	checker, err := caller.AppEngine(caller.AppEngineConfig{
		Getenv: environment("GAE_ENV", "standard", "GAE_SERVICE", "default", "GOOGLE_CLOUD_PROJECT", "acme-prod"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for header, value := range map[string]string{"X-AppEngine-Cron": "true", "X-AppEngine-QueueName": "__scheduler"} {
		r := request()
		r.Header.Set(header, value)
		if got, err := checker.Check(r); err != nil || got != (caller.Caller{ProjectFromEmail: "acme-prod", Verified: true}) {
			t.Errorf("%s: got %+v, %v", header, got, err)
		}
	}
	_, err = checker.Check(request())
	wantRefusal(t, "outside", err, 403, "the request does not come from Cloud Scheduler through App Engine: call through a job with an app_engine_http_target")
}

func TestInsecureLetsInThisMachineOnly(t *testing.T) {
	t.Parallel()
	checker, err := caller.Insecure(caller.InsecureConfig{Getenv: environment()})
	if err != nil {
		t.Fatal(err)
	}
	anybody, err := caller.Insecure(caller.InsecureConfig{AllowAnyPeer: true, Getenv: environment("K_SERVICE", "nightly")})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		peer, header string
		ok           bool
	}{
		{"127.0.0.1:4711", "", true},
		{"[::1]:4711", "", true},
		{"[::ffff:127.0.0.1]:4711", "", true},
		{"192.0.2.1:4711", "", false},
		{"", "", false},
		{"127.0.0.1:4711", "X-Forwarded-For", false},
		{"127.0.0.1:4711", "Forwarded", false},
		{"127.0.0.1:4711", "Via", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr = test.peer
		if test.header != "" {
			r.Header.Set(test.header, "192.0.2.1")
		}
		got, err := checker.Check(r)
		if (err == nil) != test.ok || got.Verified {
			t.Errorf("%s with %q: got %+v, %v; want ok = %v, not verified", test.peer, test.header, got, err, test.ok)
		}
		if err != nil {
			wantRefusal(t, test.peer, err, 403, "the request does not come from this machine and tokens are not verified: set IDEMPOTENT_CALLER to verify, with IDEMPOTENT_AUDIENCES and IDEMPOTENT_CALLERS")
		}
		if got, err := anybody.Check(r); err != nil || got.Verified {
			t.Errorf("%s with any peer allowed: got %+v, %v", test.peer, got, err)
		}
	}
}
