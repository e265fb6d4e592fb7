package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"iter"
	"strings"
	"sync"
)

// The versions of signatures, as the header webhook-signature names them.
const (
	versionHMAC    = "v1"
	versionEd25519 = "v1a"
)

// The prefixes of the scheme's keys.
const (
	prefixSecret  = "whsec_" // symmetric
	prefixPublic  = "whpk_"  // the receiver's half of an asymmetric one
	prefixPrivate = "whsk_"  // the sender's half
)

// key verifies the signatures of its version.
type key interface {
	// made reports whether one of the header's signatures of its version is the key's, of the content.
	made(header string, c content) bool
}

// content is what is signed: the three parts with a full stop between them. No part but the last can hold a full stop.
type content struct {
	id, timestamp string
	body          []byte
}

// parseKey reads whsec_… or whpk_…. The error never holds the text.
func parseKey(text string) (key, error) {
	switch {
	case text == "":
		return nil, errors.New("is empty: anybody could sign with it")
	case strings.HasPrefix(text, prefixPrivate):
		return nil, fmt.Errorf("begins with %s, the sender's private key: give the public key, %s…", prefixPrivate, prefixPublic)
	case strings.HasPrefix(text, prefixPublic):
		raw, err := decode(text[len(prefixPublic):])
		if err != nil {
			return nil, err
		}
		if len(raw) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("is a public key of %d bytes, Ed25519 has %d", len(raw), ed25519.PublicKeySize)
		}
		return ed25519Key(raw), nil
	case strings.HasPrefix(text, prefixSecret):
		raw, err := decode(text[len(prefixSecret):])
		if err != nil {
			return nil, err
		}
		if len(raw) == 0 {
			return nil, errors.New("is empty after its prefix: anybody could sign with it")
		}
		return newHMACKey(raw), nil
	default:
		return nil, fmt.Errorf("begins neither with %s (a shared secret) nor with %s (a public key): put the prefix in front of its base64", prefixSecret, prefixPublic)
	}
}

func decode(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("is not base64 after its prefix")
	}
	return raw, nil
}

// signatures are the versions and texts in a header.
func signatures(header string) iter.Seq2[string, string] {
	return func(yield func(version, text string) bool) {
		for header != "" {
			one, rest, _ := strings.Cut(header, " ")
			header = rest
			if one == "" {
				continue
			}
			if version, text, _ := strings.Cut(one, ","); !yield(version, text) {
				return
			}
		}
	}
}

// hmacKey keeps hashes that have taken the secret in already.
type hmacKey struct{ states sync.Pool }

// hmacState is what one verification works with.
type hmacState struct {
	hash hash.Hash
	head []byte
	sum  [sha256.Size]byte
	want [(sha256.Size + 2) / 3 * 4]byte
}

func newHMACKey(secret []byte) *hmacKey {
	k := &hmacKey{}
	k.states.New = func() any { return &hmacState{hash: hmac.New(sha256.New, secret)} }
	return k
}

// made compares the texts, in constant time: base64 has one text for each signature.
func (k *hmacKey) made(header string, c content) bool {
	s, _ := k.states.Get().(*hmacState)
	defer k.states.Put(s)
	s.hash.Reset()
	s.head = c.head(s.head[:0])
	_, _ = s.hash.Write(s.head)
	_, _ = s.hash.Write(c.body)
	base64.StdEncoding.Encode(s.want[:], s.hash.Sum(s.sum[:0]))
	found := 0
	for version, text := range signatures(header) {
		if version == versionHMAC {
			found |= subtle.ConstantTimeCompare([]byte(text), s.want[:])
		}
	}
	return found == 1
}

// head appends what comes before the body.
func (c content) head(b []byte) []byte {
	b = append(append(b, c.id...), '.')
	return append(append(b, c.timestamp...), '.')
}

type ed25519Key ed25519.PublicKey

func (k ed25519Key) made(header string, c content) bool {
	var message []byte
	for version, text := range signatures(header) {
		if version != versionEd25519 {
			continue
		}
		if message == nil {
			message = append(c.head(make([]byte, 0, len(c.id)+len(c.timestamp)+len(c.body)+2)), c.body...)
		}
		sig, err := decode(text)
		if err == nil && len(sig) == ed25519.SignatureSize && ed25519.Verify(ed25519.PublicKey(k), message, sig) {
			return true
		}
	}
	return false
}
