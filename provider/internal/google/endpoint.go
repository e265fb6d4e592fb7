package google

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

// Endpoint is where an API is reached.
type Endpoint struct {
	Address  string // host:port; "": the public endpoint
	Loopback bool   // spoken to in clear text, without credentials
}

// ParseEndpoint reads what people write for a custom endpoint: a URL, with or without the version's path as hashicorp/google
// wants it, or host:port. Clear text to anything but a loopback address is refused.
func ParseEndpoint(raw string) (Endpoint, error) {
	if raw == "" {
		return Endpoint{}, nil
	}
	text := raw
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return Endpoint{}, fmt.Errorf("%q is not an endpoint: write a URL such as https://cloudscheduler.googleapis.com/v1/ or host:port", raw)
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return Endpoint{}, fmt.Errorf("%q is not an endpoint: the scheme %s is neither https nor, for a loopback address, http", raw, u.Scheme)
	}
	local := loopback.Host(u.Hostname())
	if u.Scheme == "http" && !local {
		return Endpoint{}, fmt.Errorf("%q would send credentials in clear text: write https, or use a loopback address", raw)
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return Endpoint{Address: net.JoinHostPort(u.Hostname(), port), Loopback: local}, nil
}

// Loopback says whether all requests stay on this machine, so that no credentials are ever used.
func (s Settings) Loopback() bool {
	for _, raw := range []string{s.SchedulerEndpoint, s.FirestoreEndpoint} {
		if endpoint, err := ParseEndpoint(raw); err != nil || !endpoint.Loopback {
			return false
		}
	}
	return true
}
