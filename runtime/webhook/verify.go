package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The headers of a delivery, by the Standard Webhooks scheme.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// DefaultTolerance is how far webhook-timestamp may be from the clock, before and after.
const DefaultTolerance = 5 * time.Minute

// The bounds of what is read of a delivery's headers: far beyond what senders write, and little work to verify.
const (
	maxIDLength   = 255
	maxSignatures = 16
	maxSignature  = 128 // bytes of one, with its version; the longest known has 92
)

// What is wrong with a delivery, to match with errors.Is.
var (
	// ErrMalformed: a header of the scheme is missing, repeated or unreadable.
	ErrMalformed = errors.New("malformed webhook")
	// ErrTimestamp: webhook-timestamp is too far from the clock.
	ErrTimestamp = errors.New("webhook timestamp out of tolerance")
	// ErrSignature: no signature is one of a key that is known.
	ErrSignature = errors.New("no matching webhook signature")
)

// VerifierConfig says which deliveries are genuine.
type VerifierConfig struct {
	// Keys are those of the sender: whsec_ and base64 for a shared secret (v1, HMAC-SHA256), whpk_ and base64 for a public key (v1a,
	// Ed25519). A signature by any one of them counts, so that a key can be replaced while both are in use.
	Keys []string
	// Tolerance is how far webhook-timestamp, the time of this delivery, may be from the clock, before and after; to the second.
	// Default: 5 min.
	Tolerance time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Verifier verifies deliveries by the Standard Webhooks scheme. It is safe for concurrent use.
type Verifier struct {
	keys      []key
	tolerance time.Duration
	now       func() time.Time
}

// NewVerifier returns a verifier, or an error that says by its position which key cannot be used and why. It never holds a key.
func NewVerifier(cfg VerifierConfig) (*Verifier, error) {
	if len(cfg.Keys) == 0 {
		return nil, errors.New("webhook verifier: Keys is empty: give the sender's secret (whsec_…) or public key (whpk_…)")
	}
	if cfg.Tolerance < 0 {
		return nil, fmt.Errorf("webhook verifier: Tolerance is %v, it must not be negative", cfg.Tolerance)
	}
	v := &Verifier{tolerance: cfg.Tolerance, now: cfg.Now}
	if v.tolerance == 0 {
		v.tolerance = DefaultTolerance
	}
	if v.now == nil {
		v.now = time.Now
	}
	for i, text := range cfg.Keys {
		k, err := parseKey(text)
		if err != nil {
			return nil, fmt.Errorf("webhook verifier: key %d of %d %w", i+1, len(cfg.Keys), err)
		}
		v.keys = append(v.keys, k)
	}
	return v, nil
}

// String does not tell the keys.
func (v *Verifier) String() string { return fmt.Sprintf("verifier with %d keys", len(v.keys)) }

// GoString does not tell the keys.
func (v *Verifier) GoString() string { return v.String() }

// Verify checks that the delivery is genuine and recent, and returns its webhook-id. The error matches [ErrMalformed],
// [ErrTimestamp] or [ErrSignature].
func (v *Verifier) Verify(h http.Header, body []byte) (id string, err error) {
	c := content{body: body}
	if c.id, err = single(h, HeaderID); err != nil {
		return "", err
	}
	if c.timestamp, err = single(h, HeaderTimestamp); err != nil {
		return "", err
	}
	header, err := single(h, HeaderSignature)
	if err != nil {
		return "", err
	}
	if err := checkID(c.id); err != nil {
		return "", err
	}
	sent, err := parseTimestamp(c.timestamp)
	if err != nil {
		return "", err
	}
	if early := v.now().Sub(sent); early > v.tolerance || early < -v.tolerance {
		return "", fmt.Errorf("%w: the delivery was signed at %s, more than %v from now: the sender signs each delivery anew, look at the clocks",
			ErrTimestamp, sent.UTC().Format(time.RFC3339), v.tolerance)
	}
	if err := v.match(header, c); err != nil {
		return "", err
	}
	return c.id, nil
}

// match looks for a signature that one of the keys made. Those of versions that the scheme may define later are passed over.
func (v *Verifier) match(header string, c content) error {
	count := 0
	for version, text := range signatures(header) {
		if count++; count > maxSignatures || len(version)+len(text) > maxSignature {
			return fmt.Errorf("%w: %s holds more than %d signatures, or one of more than %d bytes", ErrMalformed, HeaderSignature, maxSignatures, maxSignature)
		}
	}
	for _, k := range v.keys {
		if k.made(header, c) {
			return nil
		}
	}
	return fmt.Errorf("%w: none of the %d signatures was made with a key of this receiver for this id, timestamp and body", ErrSignature, count)
}

// single is the value of a header that must be there once.
func single(h http.Header, name string) (string, error) {
	switch values := h[name]; {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", fmt.Errorf("%w: the header %s is missing", ErrMalformed, name)
	case len(values) > 1:
		return "", fmt.Errorf("%w: the header %s is given %d times", ErrMalformed, name, len(values))
	default:
		return values[0], nil
	}
}

// checkID demands an id that can be told from the timestamp after it, and written to a log.
func checkID(id string) error {
	if len(id) > maxIDLength {
		return fmt.Errorf("%w: %s has %d bytes, %d are the most", ErrMalformed, HeaderID, len(id), maxIDLength)
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c == '.':
			return fmt.Errorf("%w: %s holds a full stop, which ends it in what is signed", ErrMalformed, HeaderID)
		case c <= ' ' || c > '~':
			return fmt.Errorf("%w: %s holds something else than visible ASCII characters", ErrMalformed, HeaderID)
		}
	}
	return nil
}

// parseTimestamp reads seconds since 1970 in their one spelling, since the text is signed as it stands.
func parseTimestamp(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	const most = 1 << 38 // beyond the year 9999 nothing is left to compare
	if err != nil || seconds < 0 || seconds > most || strconv.FormatInt(seconds, 10) != text {
		return time.Time{}, fmt.Errorf("%w: %s is not a whole number of seconds since 1970", ErrMalformed, HeaderTimestamp)
	}
	return time.Unix(seconds, 0), nil
}
