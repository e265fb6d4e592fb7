package jobspec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func headerRules() []judgedRule {
	return []judgedRule{
		acceptableLimit("header-invalid", "A header cannot be sent", judgeHeaderText),
		acceptableProof("header-reserved", "A header is replaced or dropped", judgeReserved),
		acceptableProof("header-duplicate", "Two headers differ by case only", judgeDuplicates),
		acceptableLimit("headers-too-large", "The headers are too large", judgeHeaderSize),
		warning("header-secret", "A header may hold a secret", judgeSecretHeader),
		warning("body-without-content-type", "A JSON body has no Content-Type", judgeContentType),
	}
}

// header is one declared header with its place.
type header struct {
	name  string
	value Value[string]
	path  Path
	shown bool // whether its value is part of plans and state anyway
}

// headersOf lists the declared headers of the target, by block and name.
func headersOf(v *judge) []header {
	r, ok := requestOf(v)
	if !ok {
		return nil
	}
	var all []header
	for _, block := range []struct {
		name    string
		headers Value[Headers]
	}{{"headers", r.headers}, {"headers_wo", r.hidden}} {
		headers, _ := get(v, block.headers)
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			all = append(all, header{name, headers[name], r.path(block.name, name), block.name == "headers"})
		}
	}
	return all
}

func judgeHeaderText(v *judge) {
	for _, h := range headersOf(v) {
		value, known := get(v, h.value)
		switch {
		case !httpguts.ValidHeaderFieldName(h.name):
			v.fail(h.path, "this is not a name of a header", "A name holds letters, digits and !#$%&'*+-.^_`|~ only.", "Rename it.")
		case known && !httpguts.ValidHeaderFieldValue(value):
			v.fail(h.path, "its value holds control characters", "A line break in a value would begin another header.",
				"Remove them, for example with trimspace(…), or encode the value in base64.")
		}
	}
}

func judgeReserved(v *judge) {
	for _, h := range headersOf(v) {
		if why := reserved(v, h.name); why != "" {
			v.fail(h.path, "it does not arrive as written", why, "Remove it, or give it another name.")
		}
	}
}

// reserved says who replaces a header of that name, "" when nobody does.
func reserved(v *judge, name string) string {
	lower := strings.ToLower(name)
	hasPrefix := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
	}
	switch {
	case lower == "host", lower == "content-length", hasPrefix("x-google-", "x-appengine-", "x-cloudscheduler"):
		return "Cloud Scheduler sets or drops it, whatever its case."
	case lower == "user-agent" && v.job.HTTP.IsSet():
		return "Cloud Scheduler sets it to Google-Cloud-Scheduler."
	case lower == "authorization" && hasToken(v):
		return "The token of the job takes its place."
	case strings.EqualFold(name, run.HeaderProject), strings.EqualFold(name, run.HeaderRegion), strings.EqualFold(name, run.HeaderPolicy):
		return "The provider sets it to what was proved for this job."
	}
	return ""
}

func hasToken(v *judge) bool {
	t, ok := v.job.HTTP.Get()
	return ok && (t.OIDCToken.IsSet() || t.OAuthToken.IsSet())
}

func judgeDuplicates(v *judge) {
	first := map[string]header{}
	for _, h := range headersOf(v) {
		key := strings.ToLower(h.name)
		other, twice := first[key]
		if !twice {
			first[key] = h
			continue
		}
		v.fail(h.path, "it is the same header as "+other.path.words(), "Names of headers ignore case, and Cloud Scheduler sends no header "+
			"twice: which of the two values arrives is not defined.", "Remove one of them.")
	}
}

func judgeHeaderSize(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	total := HeaderSize(allHeaders(v, r))
	if total >= MaxHeaders {
		v.fail(r.path("headers"), fmt.Sprintf("%d bytes of headers are too many", total),
			fmt.Sprintf("Cloud Scheduler takes less than %d bytes of names and values, those that the provider adds included.", MaxHeaders),
			"Shorten them by at least "+amount(total-MaxHeaders+1, "byte")+": data belongs into the body.")
	}
}

// allHeaders are the declared headers and those that the provider adds, with the values that are known.
func allHeaders(v *judge, r request) map[string]string {
	all := map[string]string{}
	for _, declared := range []Value[Headers]{r.headers, r.hidden} {
		headers, _ := get(v, declared)
		for name, value := range headers {
			all[name], _ = get(v, value)
		}
	}
	for name, value := range v.derived.Headers {
		all[name] = value.OrZero()
	}
	return all
}

func judgeSecretHeader(v *judge) {
	for _, h := range headersOf(v) {
		if !h.shown {
			continue
		}
		value, _ := get(v, h.value)
		if secretName(h.name) || secretValue(value) {
			v.fail(h.path, "it looks like a secret", "Values of headers are part of the plan and of the state, and anyone who may read the "+
				"job can read them.", "Move it to headers_wo, which is never stored, or let the job's token authenticate it.")
		}
	}
}

func secretName(name string) bool {
	lower := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "-", ""), "_", "")
	for _, part := range []string{"authorization", "cookie", "apikey", "password", "passwd", "secret", "authtoken", "accesstoken"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return strings.HasSuffix(lower, "token")
}

func secretValue(value string) bool {
	for _, prefix := range []string{"Bearer ", "bearer ", "Basic ", "basic ", "-----BEGIN", "AIza", "ya29.", "ghp_", "glpat-", "xoxb-", "sk_live_"} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return false
}

func judgeContentType(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	for _, h := range headersOf(v) {
		if http.CanonicalHeaderKey(h.name) == "Content-Type" {
			return
		}
	}
	if r.headers.IsUnknown() || r.hidden.IsUnknown() {
		return
	}
	attribute, body := "body", []byte(nil)
	if text, known := get(v, r.bodyText); r.bodyText.IsSet() {
		attribute = "body_text"
		if known {
			body = []byte(text)
		}
	} else if text, known := get(v, r.body); known {
		body, _ = base64.StdEncoding.DecodeString(text)
	}
	if trimmed := strings.TrimSpace(string(body)); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid(body) {
			v.fail(r.path(attribute), "it is JSON, but is sent as application/octet-stream", "Cloud Scheduler sends a body without "+
				"Content-Type as application/octet-stream, which many frameworks do not decode.",
				`Add Content-Type = "application/json" to headers.`)
		}
	}
}
