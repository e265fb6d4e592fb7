package scheduledjob

import (
	"maps"
	"net/textproto"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// injectedPrefix begins the names of the headers that this provider adds, in canonical form.
const injectedPrefix = "X-Idempotent-"

// withoutHidden leaves out the headers that hidden names in canonical form, and says whether each of them was there.
func withoutHidden(live map[string]string, hidden []string) (rest map[string]string, complete bool) {
	if len(hidden) == 0 {
		return live, true
	}
	missing := make(map[string]bool, len(hidden))
	for _, name := range hidden {
		missing[name] = true
	}
	rest = maps.Clone(live)
	for key := range live {
		canonical := textproto.CanonicalMIMEHeaderKey(key)
		if _, isHidden := missing[canonical]; isHidden {
			missing[canonical] = false
			delete(rest, key)
		}
	}
	for _, gone := range missing {
		if gone {
			return rest, false
		}
	}
	return rest, true
}

// splitHeaders separates people's headers from the injected ones, and leaves out what the server adds.
func splitHeaders(live map[string]string, prior types.Map) (own, injected types.Map) {
	theirs, ours := map[string]attr.Value{}, map[string]attr.Value{}
	written := map[string]bool{}
	for key := range prior.Elements() {
		written[textproto.CanonicalMIMEHeaderKey(key)] = true
	}
	for key, value := range live {
		switch canonical := textproto.CanonicalMIMEHeaderKey(key); {
		case strings.HasPrefix(canonical, injectedPrefix):
			ours[canonical] = types.StringValue(value)
		case written[canonical]:
			// App Engine sends people's own User-Agent, followed by its own.
			theirs[key] = types.StringValue(strings.TrimSuffix(value, " "+appEngineAgent))
		case canonical == "User-Agent", canonical == "Authorization", canonical == "Content-Length", canonical == "Host",
			canonical == "Content-Type" && value == "application/octet-stream":
		default:
			theirs[key] = types.StringValue(value)
		}
	}
	return types.MapValueMust(types.StringType, theirs), types.MapValueMust(types.StringType, ours)
}

// appEngineAgent ends the User-Agent of requests to App Engine.
const appEngineAgent = "AppEngine-Google; (+http://code.google.com/appengine)"

// keepHeaders is prior as long as live holds the same headers, however their names are written.
func keepHeaders(prior, live types.Map) types.Map {
	if len(live.Elements()) == 0 && len(prior.Elements()) == 0 {
		return prior
	}
	before, after := canonicalHeaders(prior), canonicalHeaders(live)
	if !maps.Equal(before, after) {
		return live
	}
	return prior
}

func canonicalHeaders(m types.Map) map[string]string {
	headers := map[string]string{}
	for key, value := range mapToAPI(m) {
		headers[textproto.CanonicalMIMEHeaderKey(key)] = value
	}
	return headers
}
