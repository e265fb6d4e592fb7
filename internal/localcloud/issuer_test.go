package localcloud_test

import (
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

const account = "scheduler@acme-prod.iam.gserviceaccount.com"

func TestTokensVerifyAgainstTheIssuersKeys(t *testing.T) {
	t.Parallel()

	// Tokens stay on real time when the cloud's clock is moved.
	tg, cloud := newTarget(t, nil), manual(t)
	job := httpJob(tg.url + "/work?x=1")
	withToken(job, "")
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute)

	seen := tg.requests()
	if len(seen) != 1 {
		t.Fatalf("%d requests", len(seen))
	}

	raw := seen[0].header.Get("Authorization")[len("Bearer "):]

	provider, err := oidc.NewProvider(limited(t), cloud.Issuer())
	if err != nil {
		t.Fatal(err)
	}

	// Without an audience of its own a token is for the whole URI.
	token, err := provider.Verifier(&oidc.Config{ClientID: tg.url + "/work?x=1"}).Verify(limited(t), raw)
	if err != nil {
		t.Fatal(err)
	}

	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Party    string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		t.Fatal(err)
	}

	if claims.Email != account || !claims.Verified || claims.Party != token.Subject || len(token.Subject) != 21 {
		t.Errorf("claims are %+v, subject %s", claims, token.Subject)
	}

	if life := token.Expiry.Sub(token.IssuedAt); life != time.Hour || time.Since(token.IssuedAt).Abs() > time.Minute {
		t.Errorf("issued at %s for %s", token.IssuedAt, life)
	}

	keys := oidc.NewRemoteKeySet(limited(t), cloud.JWKSURL())
	if _, err := keys.VerifySignature(limited(t), raw); err != nil {
		t.Error(err)
	}

	other := start(t, localcloud.Config{})
	if _, err := oidc.NewRemoteKeySet(limited(t), other.JWKSURL()).VerifySignature(limited(t), raw); err == nil {
		t.Error("another cloud's keys verify the token")
	}

	for _, d := range cloud.Deliveries("") {
		if got := d.Header.Get("Authorization"); got != "(not shown)" {
			t.Errorf("the record shows the token: %s", got)
		}
	}
}

func withToken(job *schedulerpb.Job, audience string) {
	job.GetHttpTarget().Headers = map[string]string{"authorization": "Basic abc"}
	job.GetHttpTarget().AuthorizationHeader = &schedulerpb.HttpTarget_OidcToken{
		OidcToken: &schedulerpb.OidcToken{ServiceAccountEmail: account, Audience: audience},
	}
}

func TestTokensAreReusedPerAccountAndAudience(t *testing.T) {
	t.Parallel()

	cloud := manual(t)
	sign := func(account, audience string) string {
		token, err := cloud.Token(account, audience)
		if err != nil {
			t.Fatal(err)
		}

		return token
	}

	first := sign(account, "a")
	if sign(account, "a") != first {
		t.Error("the token was signed again")
	}

	if sign(account, "b") == first || sign("x"+account, "a") == first {
		t.Error("a token was given out for another account or audience")
	}
}

func TestOAuthTokensAreOpaque(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	job := httpJob(tg.url)
	job.GetHttpTarget().AuthorizationHeader = &schedulerpb.HttpTarget_OauthToken{
		OauthToken: &schedulerpb.OAuthToken{ServiceAccountEmail: account},
	}
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute)

	if got := tg.requests()[0].header.Get("Authorization"); len(got) < 20 || got[:12] != "Bearer ya29." {
		t.Errorf("Authorization is %q", got)
	}

	stored, err := cloud.Job(nightly)
	if err != nil || stored.GetHttpTarget().GetOauthToken().GetScope() != "https://www.googleapis.com/auth/cloud-platform" {
		t.Errorf("scope: %v, %v", stored.GetHttpTarget(), err)
	}
}
