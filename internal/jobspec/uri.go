package jobspec

import (
	"net/url"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

// parseTarget reads the URI of an HTTP target, and false when it is not an absolute http or https URI with a host.
func parseTarget(uri string) (*url.URL, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return nil, false
	}
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" {
		return nil, false
	}
	return u, true
}

// origin is scheme and host, in lower case, as an audience of Cloud Run has it.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) }

func hostIs(u *url.URL, domain string) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// isCloudRun: Cloud Run, and functions of the second generation by their Cloud Run address.
func isCloudRun(u *url.URL) bool { return hostIs(u, "run.app") }

// isFunction: a function by its own address, whose first path segment is the function's name.
func isFunction(u *url.URL) bool { return hostIs(u, "cloudfunctions.net") }

// isGoogleAPI: an API of Google's, called without a handler between.
func isGoogleAPI(u *url.URL) bool { return hostIs(u, "googleapis.com") }

// isLoopback: this machine, by name or address.
func isLoopback(u *url.URL) bool {
	return loopback.Name(u.Hostname())
}

// defaultAudience is what the target takes for its own name: the origin for Cloud Run, the function's address for a function, else
// the URI without what never belongs into an audience.
func defaultAudience(u *url.URL) string {
	switch {
	case isCloudRun(u):
		return origin(u)
	case isFunction(u):
		name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		return strings.TrimSuffix(origin(u)+"/"+name, "/")
	}
	return stripped(u)
}

// stripped is the URI without user, query string and fragment.
func stripped(u *url.URL) string {
	bare := *u
	bare.User, bare.RawQuery, bare.ForceQuery, bare.Fragment, bare.RawFragment = nil, "", false, "", ""
	return bare.String()
}

// audience is the audience of the OIDC token: as given, else the contract's, else what the target takes for its own name. In mode
// observe the default stays Google's, the whole URI; it is left unset when that holds a query string, which no derived value shows.
func audience(j Job, mode Value[string]) Value[string] {
	if !j.HTTP.IsKnown() {
		return Value[string]{state: j.HTTP.state}
	}
	target := j.HTTP.OrZero()
	if !target.OIDCToken.IsKnown() {
		return Value[string]{state: target.OIDCToken.state}
	}
	if given := target.OIDCToken.OrZero().Audience; given.IsSet() {
		return convert(given, withoutQuery)
	}
	observed, ok := mode.Get()
	if !ok {
		return Unknown[string]()
	}
	fallback := func(uri string) string {
		if u, ok := parseTarget(uri); ok {
			return defaultAudience(u)
		}
		return ""
	}
	if observed == ModeObserve {
		if uri, ok := target.URI.Get(); ok && strings.ContainsAny(uri, "?#@") {
			return Unset[string]()
		}
		return convert(orUnknown(target.URI), func(uri string) string { return uri })
	}
	derived := handlerContract(j.Deduplication.Contract).audience.OrValue(convert(orUnknown(target.URI), fallback))
	if text, ok := derived.Get(); ok && text == "" {
		return Unset[string]()
	}
	return derived
}

// withoutQuery cuts a query string and a fragment off.
func withoutQuery(text string) string {
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		return text[:i]
	}
	return text
}
