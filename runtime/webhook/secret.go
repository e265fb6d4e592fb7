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
	"slices"
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

// key verifies the signatures of one version.
type key interface {
	version() string
	// made reports whether one of the texts is the key's signature, in base64, of the content.
	made(texts []string, c content) bool
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

// hmacKey keeps hashes that have taken the secret in already.
type hmacKey struct{ hashes sync.Pool }

func newHMACKey(secret []byte) *hmacKey {
	k := &hmacKey{}
	k.hashes.New = func() any { return hmac.New(sha256.New, secret) }
	return k
}

func (*hmacKey) version() string { return versionHMAC }

// made compares the texts, in constant time: base64 has one text for each signature.
func (k *hmacKey) made(texts []string, c content) bool {
	if len(texts) == 0 {
		return false
	}
	h, _ := k.hashes.Get().(hash.Hash)
	defer k.hashes.Put(h)
	h.Reset()
	var head [headSize]byte
	_, _ = h.Write(c.head(head[:0]))
	_, _ = h.Write(c.body)
	var sum [sha256.Size]byte
	var want [(sha256.Size + 2) / 3 * 4]byte
	base64.StdEncoding.Encode(want[:], h.Sum(sum[:0]))
	found := 0
	for _, text := range texts {
		found |= subtle.ConstantTimeCompare([]byte(text), want[:])
	}
	return found == 1
}

// headSize holds most ids without an allocation.
const headSize = 128

// head appends what comes before the body.
func (c content) head(b []byte) []byte {
	b = append(append(b, c.id...), '.')
	return append(append(b, c.timestamp...), '.')
}

type ed25519Key ed25519.PublicKey

func (ed25519Key) version() string { return versionEd25519 }

func (k ed25519Key) made(texts []string, c content) bool {
	if len(texts) == 0 {
		return false
	}
	message := c.head(make([]byte, 0, len(c.id)+len(c.timestamp)+len(c.body)+2))
	message = append(message, c.body...)
	return slices.ContainsFunc(texts, func(text string) bool {
		sig, err := decode(text)
		return err == nil && len(sig) == ed25519.SignatureSize && ed25519.Verify(ed25519.PublicKey(k), message, sig)
	})
}
