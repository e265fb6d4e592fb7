package webhook_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// The vector that the scheme's libraries share.
const (
	vectorSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorTime      = 1614265330
	vectorBody      = `{"test": 2432232314}`
	vectorSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

// vectorClock is a receiver's clock at that time.
func vectorClock() time.Time { return time.Unix(vectorTime, 0) }

// otherSignature is well formed and nobody's.
const otherSignature = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="

// pair is a key pair of v1a.
func pair() (public string, private ed25519.PrivateKey) {
	private = ed25519.NewKeyFromSeed([]byte("thirty-two bytes make up a seed."))
	raw, _ := private.Public().(ed25519.PublicKey)
	return "whpk_" + base64.StdEncoding.EncodeToString(raw), private
}

func header(id, timestamp, signature string) http.Header {
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
}

// signed is what a sender with that secret puts into the header.
func signed(secret, id, timestamp, body string) string {
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	h := hmac.New(sha256.New, raw)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func verifier(t testing.TB, keys ...string) *webhook.Verifier {
	t.Helper()
	v, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: keys, Now: vectorClock})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheSchemesVectorVerifies(t *testing.T) {
	t.Parallel()
	id, err := verifier(t, vectorSecret).Verify(header(vectorID, strconv.Itoa(vectorTime), vectorSignature), []byte(vectorBody))
	if err != nil || id != vectorID {
		t.Fatalf("id %q, %v", id, err)
	}
}

func TestAPublicKeyVerifies(t *testing.T) {
	t.Parallel()
	public, private := pair()
	at := strconv.Itoa(vectorTime)
	sig := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(vectorID+"."+at+"."+vectorBody)))
	v := verifier(t, public)
	if _, err := v.Verify(header(vectorID, at, sig), []byte(vectorBody)); err != nil {
		t.Error(err)
	}
	if _, err := v.Verify(header(vectorID, at, sig), []byte(vectorBody+" ")); !errors.Is(err, webhook.ErrSignature) {
		t.Errorf("another body: %v", err)
	}
	if _, err := v.Verify(header(vectorID, at, "v1,"+strings.TrimPrefix(sig, "v1a,")), []byte(vectorBody)); !errors.Is(err, webhook.ErrSignature) {
		t.Errorf("the signature under the other version: %v", err)
	}
}

func TestAnyKeyAndAnySignatureCount(t *testing.T) {
	t.Parallel()
	public, private := pair()
	at := strconv.Itoa(vectorTime)
	asymmetric := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(vectorID+"."+at+"."+vectorBody)))
	old := "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret before the rotation"))
	for name, test := range map[string]struct {
		keys       []string
		signatures string
	}{
		"the old secret, while both are in use":     {[]string{old, vectorSecret}, signed(old, vectorID, at, vectorBody)},
		"the new secret":                            {[]string{old, vectorSecret}, vectorSignature},
		"both signatures, one key":                  {[]string{vectorSecret}, signed(old, vectorID, at, vectorBody) + " " + vectorSignature},
		"both signatures the other way":             {[]string{vectorSecret}, vectorSignature + " " + signed(old, vectorID, at, vectorBody)},
		"beside versions that are unknown":          {[]string{vectorSecret}, "v2,abc v3 , " + vectorSignature},
		"the symmetric one of two versions":         {[]string{vectorSecret}, asymmetric + " " + vectorSignature},
		"the asymmetric one of two versions":        {[]string{public}, otherSignature + " " + asymmetric},
		"a move from a secret to a public key":      {[]string{vectorSecret, public}, asymmetric},
		"several spaces between and around":         {[]string{vectorSecret}, "  " + otherSignature + "   " + vectorSignature + " "},
		"as many signatures as are ever looked at":  {[]string{vectorSecret}, strings.Repeat(otherSignature+" ", 15) + vectorSignature},
		"a good one among truncated and empty ones": {[]string{vectorSecret}, "v1, v1 v1,AAAA " + vectorSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := verifier(t, test.keys...).Verify(header(vectorID, at, test.signatures), []byte(vectorBody)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestForgedAndMalformedDeliveriesAreRefused(t *testing.T) {
	t.Parallel()
	at := strconv.Itoa(vectorTime)
	good := func() http.Header { return header(vectorID, at, vectorSignature) }
	with := func(name string, values ...string) http.Header {
		h := good()
		if h[name] = values; len(values) == 0 {
			delete(h, name)
		}
		return h
	}
	for name, test := range map[string]struct {
		header http.Header
		body   string
		want   error
	}{
		"another body":          {good(), vectorBody + "\n", webhook.ErrSignature},
		"no body":               {good(), "", webhook.ErrSignature},
		"another id":            {with("Webhook-Id", "msg_other"), vectorBody, webhook.ErrSignature},
		"another time":          {with("Webhook-Timestamp", strconv.Itoa(vectorTime+1)), vectorBody, webhook.ErrSignature},
		"another signature":     {with("Webhook-Signature", otherSignature), vectorBody, webhook.ErrSignature},
		"a truncated signature": {with("Webhook-Signature", vectorSignature[:len(vectorSignature)-1]), vectorBody, webhook.ErrSignature},
		"the signature alone":   {with("Webhook-Signature", strings.TrimPrefix(vectorSignature, "v1,")), vectorBody, webhook.ErrSignature},
		"a newer version alone": {with("Webhook-Signature", "v2"+vectorSignature[2:]), vectorBody, webhook.ErrSignature},
		"no signature at all":   {with("Webhook-Signature", " "), vectorBody, webhook.ErrSignature},

		"no id":                     {with("Webhook-Id"), vectorBody, webhook.ErrMalformed},
		"an empty id":               {with("Webhook-Id", ""), vectorBody, webhook.ErrMalformed},
		"two ids":                   {with("Webhook-Id", vectorID, vectorID), vectorBody, webhook.ErrMalformed},
		"an id with a full stop":    {with("Webhook-Id", "msg.1"), vectorBody, webhook.ErrMalformed},
		"an id with a space":        {with("Webhook-Id", "msg 1"), vectorBody, webhook.ErrMalformed},
		"an id that is not ASCII":   {with("Webhook-Id", "msg_é"), vectorBody, webhook.ErrMalformed},
		"an id that is too long":    {with("Webhook-Id", strings.Repeat("m", 256)), vectorBody, webhook.ErrMalformed},
		"no time":                   {with("Webhook-Timestamp"), vectorBody, webhook.ErrMalformed},
		"two times":                 {with("Webhook-Timestamp", at, at), vectorBody, webhook.ErrMalformed},
		"a time in words":           {with("Webhook-Timestamp", "2021-02-25T15:02:10Z"), vectorBody, webhook.ErrMalformed},
		"a time with a sign":        {with("Webhook-Timestamp", "+"+at), vectorBody, webhook.ErrMalformed},
		"a time with a zero before": {with("Webhook-Timestamp", "0"+at), vectorBody, webhook.ErrMalformed},
		"a time before 1970":        {with("Webhook-Timestamp", "-1"), vectorBody, webhook.ErrMalformed},
		"a time beyond all times":   {with("Webhook-Timestamp", "9223372036854775807"), vectorBody, webhook.ErrMalformed},
		"no signature header":       {with("Webhook-Signature"), vectorBody, webhook.ErrMalformed},
		"two signature headers":     {with("Webhook-Signature", vectorSignature, vectorSignature), vectorBody, webhook.ErrMalformed},
		"very many signatures":      {with("Webhook-Signature", strings.Repeat(otherSignature+" ", 16)+vectorSignature), vectorBody, webhook.ErrMalformed},
		"a very long signature":     {with("Webhook-Signature", "v1,"+strings.Repeat("A", 200)), vectorBody, webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := verifier(t, vectorSecret).Verify(test.header, []byte(test.body))
			if !errors.Is(err, test.want) || id != "" {
				t.Errorf("id %q, error %v, want one that matches %q", id, err, test.want)
			}
		})
	}
}

func TestTheTimestampIsHeldToTheToleranceBothWays(t *testing.T) {
	t.Parallel()
	at := strconv.Itoa(vectorTime)
	for offset, genuine := range map[time.Duration]bool{
		0: true, 5 * time.Minute: true, -5 * time.Minute: true, 5*time.Minute + time.Second: false, -5*time.Minute - time.Second: false,
	} {
		v, err := webhook.NewVerifier(webhook.VerifierConfig{
			Keys: []string{vectorSecret}, Now: func() time.Time { return time.Unix(vectorTime, 0).Add(offset) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Verify(header(vectorID, at, vectorSignature), []byte(vectorBody))
		if genuine && err != nil || !genuine && !errors.Is(err, webhook.ErrTimestamp) {
			t.Errorf("clock at %+v: %v", offset, err)
		}
	}
}

func TestUnusableKeysAreRefusedWithoutBeingTold(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{
		"empty": "", "prefix alone": "whsec_", "public prefix alone": "whpk_", "no prefix": "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"no base64": "whsec_c3VwZXJzZWNyZXQ!", "base64 of an URL": "whsec_c3VwZXJzZWNyZXQ-_", "base64 with a line end": "whsec_c3VwZXJz\nZWNyZXQ=",
		"private key": "whsk_c3VwZXJzZWNyZXQ=", "short public key": "whpk_c3VwZXJzZWNyZXQ=",
	} {
		_, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{vectorSecret, key}})
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if !strings.Contains(err.Error(), "key 2 of 2") || strings.Contains(err.Error(), "c3VwZXJ") || strings.Contains(err.Error(), "MfKQ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := webhook.NewVerifier(webhook.VerifierConfig{}); err == nil {
		t.Error("no keys: accepted")
	}
	if _, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{vectorSecret}, Tolerance: -1}); err == nil {
		t.Error("negative tolerance: accepted")
	}
	if text := fmt.Sprintf("%v %+v %#v", verifier(t, vectorSecret), verifier(t, vectorSecret), verifier(t, vectorSecret)); !strings.Contains(text, "1 keys") || len(text) > 80 {
		t.Errorf("a verifier prints as %q", text)
	}
}

// FuzzSignatureHeader: whatever the headers hold, only the content that was signed verifies, and nothing panics.
func FuzzSignatureHeader(f *testing.F) {
	at := strconv.Itoa(vectorTime)
	public, _ := pair()
	for _, seed := range []string{vectorSignature, otherSignature + " " + vectorSignature, "v1,", "v1", ",", "v1a," + strings.Repeat("A", 88), "v1,\n", " "} {
		f.Add(vectorID, at, seed, vectorBody)
	}
	f.Add("a.b", at, vectorSignature, vectorBody)
	f.Add(vectorID, "0"+at, vectorSignature, vectorBody)
	f.Fuzz(func(t *testing.T, id, timestamp, signature, body string) {
		got, err := verifier(t, vectorSecret, public).Verify(header(id, timestamp, signature), []byte(body))
		genuine := false
		for one := range strings.SplitSeq(signature, " ") {
			genuine = genuine || one == signed(vectorSecret, id, timestamp, body)
		}
		switch {
		case err == nil && (!genuine || got != id || strings.ContainsAny(id, ". \n")):
			t.Errorf("id %q, timestamp %q, signature %q: verified", id, timestamp, signature)
		case err != nil && got != "":
			t.Errorf("an error, and the id %q", got)
		case errors.Is(err, webhook.ErrSignature) && genuine:
			t.Errorf("a genuine signature in %q was not found", signature)
		}
	})
}
