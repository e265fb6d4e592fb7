package inbox_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// TestVerificationAgreesWithTheReferenceLibrary: what the library signs verifies, and what verifies here verifies there, whatever becomes
// of a delivery on the way. Here more is refused: the library takes ids with full stops and other spellings of the timestamp.
func TestVerificationAgreesWithTheReferenceLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 64), func(raw []byte) string {
			return "whsec_" + base64.StdEncoding.EncodeToString(raw)
		}), 1, 3).Draw(t, "secrets")
		id := rapid.StringMatching(`[A-Za-z0-9_-]{1,40}`).Draw(t, "id")
		body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body")
		now := time.Now()
		sent := now.Add(time.Duration(rapid.IntRange(-240, 240).Draw(t, "seconds")) * time.Second)

		h := http.Header{}
		h.Set(standardwebhooks.HeaderWebhookID, id)
		h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(sent.Unix(), 10))
		var signatures []string
		for _, secret := range rapid.Permutation(secrets).Draw(t, "signers") {
			signature, err := reference(t, secret).Sign(id, sent, body)
			if err != nil {
				t.Fatal(err)
			}
			signatures = append(signatures, signature)
		}
		h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))

		one := rapid.SampledFrom(secrets).Draw(t, "receiver's secret")
		v, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{one}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.Verify(h, body); err != nil || got != id {
			t.Fatalf("a genuine delivery: %q, %v", got, err)
		}
		if err := reference(t, one).Verify(body, h); err != nil {
			t.Fatalf("the library refuses its own: %v", err)
		}

		name := rapid.SampledFrom([]string{standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp, standardwebhooks.HeaderWebhookSignature, "body"}).Draw(t, "changed")
		if name == "body" {
			body = append(body, rapid.Byte().Draw(t, "byte"))
		} else {
			h.Set(name, changed(t, h.Get(name)))
		}
		got, err := v.Verify(h, body)
		theirs := reference(t, one).Verify(body, h)
		if err == nil && (theirs != nil || got != h.Get(standardwebhooks.HeaderWebhookID)) {
			t.Fatalf("verified here as %q, there %v", got, theirs)
		}
	})
}

func reference(t *rapid.T, secret string) *standardwebhooks.Webhook {
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// changed is text with a byte changed, left out or put in.
func changed(t *rapid.T, text string) string {
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	put := string(rapid.ByteRange(' ', '~').Draw(t, "put"))
	switch rapid.SampledFrom([]string{"change", "leave out", "put in"}).Draw(t, "how") {
	case "change":
		return text[:at] + put + text[at+1:]
	case "leave out":
		return text[:at] + text[at+1:]
	default:
		return text[:at] + put + text[at:]
	}
}
