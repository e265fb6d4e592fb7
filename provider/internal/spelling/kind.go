package spelling

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// Kind says by what meaning two texts are compared. The zero Kind is invalid.
type Kind uint8

// The kinds.
const (
	// Duration: 3m and 180s are the same.
	Duration Kind = iota + 1
	// Zone: UTC, utc and Etc/UTC are the same; so are all other zones only with themselves.
	Zone
	// Address: a bare host and the host with a slash are the same URL; scheme and host ignore case.
	Address
	// Base64: the decoded bytes count, not line breaks.
	Base64
)

// Same says whether a and b mean the same. Equal texts always do.
func (k Kind) Same(a, b string) bool {
	if a == b {
		return true
	}
	switch k {
	case Duration:
		x, errX := time.ParseDuration(a)
		y, errY := time.ParseDuration(b)
		return errX == nil && errY == nil && x == y
	case Zone:
		return unixcron.CanonicalZone(a) == unixcron.CanonicalZone(b)
	case Address:
		x, okX := canonicalAddress(a)
		y, okY := canonicalAddress(b)
		return okX && okY && x == y
	case Base64:
		x, errX := base64.StdEncoding.DecodeString(a)
		y, errY := base64.StdEncoding.DecodeString(b)
		return errX == nil && errY == nil && bytes.Equal(x, y)
	default:
		return false
	}
}

// canonicalAddress is the URL with scheme and host in lower case and with the slash that a bare host implies.
func canonicalAddress(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", false
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), true
}
