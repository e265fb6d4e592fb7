package webhooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// Secret is a sender's key for tests.
const Secret = "whsec_d2ViaG9va3Rlc3Qgd2ViaG9va3Rlc3Qgd2ViaG8="

// Sign returns the headers of a delivery that was signed at that time with a shared secret, whsec_ and base64.
func Sign(secret, id string, at time.Time, payload []byte) (http.Header, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 || !strings.HasPrefix(secret, "whsec_") {
		return nil, errors.New("sign a webhook: the secret is not whsec_ and base64")
	}
	seconds := strconv.FormatInt(at.Unix(), 10)
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", id, seconds, payload) // a hash takes everything
	return http.Header{
		webhook.HeaderID: {id}, webhook.HeaderTimestamp: {seconds},
		webhook.HeaderSignature: {"v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))},
	}, nil
}

// Request returns one delivery, signed now with [Secret].
func Request(id, payload string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(payload))
	header, err := Sign(Secret, id, time.Now(), []byte(payload))
	if err != nil {
		panic(err) // a key of ours
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	return r
}
