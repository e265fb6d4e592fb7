package jobspec

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// maxURI is how many characters a URI may have, encoded (Cloud Scheduler).
const maxURI = 2083

func targetRules() []judgedRule {
	return []judgedRule{
		limit("target-count", "There is not exactly one target", judgeTargetCount),
		acceptableProof("pubsub-target", "The target is a Pub/Sub topic, which gets no schedule time", judgePubSub),
		acceptableLimit("uri-invalid", "The target's URI cannot be called", judgeURI),
		acceptableLimit("http-method-invalid", "The HTTP method is not one that the target takes", judgeMethod),
		acceptableLimit("body-invalid", "The body cannot be read", judgeBody),
		acceptableLimit("body-with-method", "The HTTP method takes no body", judgeBodyMethod),
		acceptableLimit("job-too-large", "The job is too large", judgeSize),
		acceptableProof("google-api-target", "The target is a Google API, which cannot tell a retry from a new run", judgeGoogleAPI),
		acceptableLimit("attempt-deadline-out-of-range", "The attempt deadline is out of range", judgeDeadline),
		proof("app-engine-deadline-missing", "An App Engine target has no attempt deadline", judgeAppEngineDeadline),
	}
}

// request is what HTTP and App Engine targets have in common.
type request struct {
	block           string
	method          Value[string]
	body, bodyText  Value[string]
	headers, hidden Value[Headers]
	uri, account    Value[string]
	methods         []string // allowed
	bodied          []string // of those, the ones that take a body
}

func (r request) path(segments ...any) Path { return append(Path{r.block, 0}, segments...) }

// requestOf is the request that the target makes, and false when the target makes none or is not known.
func requestOf(v *judge) (request, bool) {
	if t, ok := get(v, v.job.HTTP); ok {
		return request{
			block: "http_target", method: t.Method, body: t.Body, bodyText: t.BodyText, headers: t.Headers, hidden: t.HeadersWO,
			uri: t.URI, account: t.OIDCToken.OrZero().ServiceAccountEmail.OrValue(t.OAuthToken.OrZero().ServiceAccountEmail),
			methods: []string{"POST", "GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"}, bodied: []string{"POST", "PUT", "PATCH"},
		}, true
	}
	if t, ok := get(v, v.job.AppEngine); ok {
		return request{
			block: "app_engine_http_target", method: t.Method, body: t.Body, bodyText: t.BodyText, headers: t.Headers, hidden: t.HeadersWO,
			uri:     t.RelativeURI.Or("/"),
			methods: []string{"POST", "GET", "HEAD", "PUT", "DELETE"}, bodied: []string{"POST", "PUT"},
		}, true
	}
	return request{}, false
}

func judgeTargetCount(v *judge) {
	var known []string
	for _, target := range []struct {
		block        string
		set, unknown bool
	}{
		{"http_target", v.job.HTTP.IsSet(), v.job.HTTP.IsUnknown()},
		{"app_engine_http_target", v.job.AppEngine.IsSet(), v.job.AppEngine.IsUnknown()},
		{"pubsub_target", v.job.PubSub.IsSet(), v.job.PubSub.IsUnknown()},
	} {
		switch {
		case target.unknown:
			v.waiting = true
		case target.set:
			known = append(known, target.block)
		}
	}
	const remedy = "Keep one block: http_target or app_engine_http_target."
	switch {
	case len(known) > 1:
		v.fail(nil, "it has more than one target", "A job calls one target; this one has "+strings.Join(known, " and ")+".", remedy)
	case len(known) == 0 && !v.waiting:
		v.fail(nil, "it has no target", "A job without a target calls nothing.", "Add one block: http_target or app_engine_http_target.")
	}
}

func judgePubSub(v *judge) {
	if _, ok := get(v, v.job.PubSub); ok {
		v.fail(Path{"pubsub_target", 0}, "the schedule time does not reach a subscriber",
			"A message carries neither the job's name nor the schedule time, so a second delivery of one run looks like another run.",
			"Call the handler by http_target, or have the subscriber recognise repeats by something in the message.")
	}
}

func judgeURI(v *judge) {
	if t, ok := get(v, v.job.HTTP); ok {
		judgeHTTPURI(v, t.URI)
	}
	if t, ok := get(v, v.job.AppEngine); ok {
		judgeRelativeURI(v, t.RelativeURI)
	}
}

func judgeHTTPURI(v *judge, value Value[string]) {
	path := Path{"http_target", 0, "uri"}
	if !value.IsSet() {
		v.fail(path, "it is missing", "The job calls this address.", "Set it to the handler's address, https://HOST/PATH.")
		return
	}
	uri, ok := get(v, value)
	if !ok {
		return
	}
	u, valid := parseTarget(uri)
	const remedy = "Set it to https://HOST/PATH, or http:// for a host without TLS, with spaces written as %20."
	switch {
	case !valid, strings.ContainsAny(uri, " \t\r\n"):
		v.fail(path, "it is not an absolute http or https address", "Cloud Scheduler calls http:// and https:// addresses with a host, "+
			"and no spaces in them.", remedy)
	case u.User != nil:
		v.fail(path, "it holds a user name or password", "What stands before @ is not sent by Cloud Scheduler, and shows in every plan.",
			"Remove it, and let a token authenticate the job: add an oidc_token block.")
	default:
		judgeURILength(v, path, len(u.String()))
	}
}

func judgeRelativeURI(v *judge, value Value[string]) {
	path := Path{"app_engine_http_target", 0, "relative_uri"}
	uri, ok := get(v, value)
	if !ok {
		return
	}
	u, err := url.Parse(uri)
	switch {
	case !strings.HasPrefix(uri, "/"), strings.ContainsAny(uri, " \t\r\n"), err != nil:
		v.fail(path, quote(withoutQuery(uri))+" is not a path of the app", "A relative URI begins with / and holds no spaces.",
			"Set it to /PATH, with spaces written as %20.")
	default:
		judgeURILength(v, path, len(u.String()))
	}
}

func judgeURILength(v *judge, path Path, n int) {
	if n > maxURI {
		v.fail(path, fmt.Sprintf("%d characters are too many", n), fmt.Sprintf("Cloud Scheduler takes %d characters, encoded.", maxURI),
			"Shorten it by at least "+amount(n-maxURI, "character")+"; long parameters can go into the body.")
	}
}

func judgeMethod(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	method, ok := get(v, r.method)
	if !ok || slices.Contains(r.methods, method) {
		return
	}
	remedy := "Set it to one of " + strings.Join(r.methods, ", ") + "."
	if upper := strings.ToUpper(method); slices.Contains(r.methods, upper) {
		remedy = "Write " + upper + "."
	}
	v.fail(r.path("http_method"), quote(method)+" is not a method of this target", "This target takes "+strings.Join(r.methods, ", ")+
		", in capitals.", remedy)
}

// bodySize is how many bytes the body has, and false when that is not known or the body cannot be read.
func (r request) bodySize() (int, bool) {
	if text, ok := r.bodyText.Get(); ok {
		return len(text), true
	}
	if r.bodyText.IsUnknown() || r.body.IsUnknown() {
		return 0, false
	}
	body, err := base64.StdEncoding.DecodeString(r.body.OrZero())
	return len(body), err == nil
}

func judgeBody(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	encoded, known := get(v, r.body)
	get(v, r.bodyText)
	if r.body.IsSet() && r.bodyText.IsSet() {
		v.fail(r.path("body_text"), "body is set as well", "Both give the body of the request.", "Keep one: body in base64, or body_text as it is.")
		return
	}
	if _, err := base64.StdEncoding.DecodeString(encoded); known && err != nil {
		v.fail(r.path("body"), "it is not base64", "The body is given in base64, as to google_cloud_scheduler_job.",
			"Write base64encode(…) around it, or use body_text for plain text.")
	}
}

func judgeBodyMethod(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	method, ok := get(v, r.method.Or("POST"))
	if !ok || !slices.Contains(r.methods, method) || slices.Contains(r.bodied, method) {
		return
	}
	attribute := "body"
	text, _ := get(v, r.body)
	if r.bodyText.IsSet() {
		attribute = "body_text"
		text, _ = get(v, r.bodyText)
	}
	if text != "" {
		v.fail(r.path(attribute), "a "+method+" request takes no body", "This target takes a body with "+plain(r.bodied)+" only.",
			"Remove it, or set http_method to "+r.bodied[0]+".")
	}
}

// plain writes A, B and C without quotes.
func plain(items []string) string {
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

func judgeSize(v *judge) {
	r, ok := requestOf(v)
	if !ok {
		return
	}
	get(v, r.body)
	get(v, r.bodyText)
	body, _ := r.bodySize()
	texts := []string{
		"projects/" + v.job.Project.OrZero() + "/locations/" + v.job.Region.OrZero() + "/jobs/" + v.job.Name.OrZero(),
		v.job.Description.OrZero(), v.job.Schedule.OrZero(), unixcron.CanonicalZone(v.job.TimeZone.Or("Etc/UTC").OrZero()), r.uri.OrZero(), r.account.OrZero(),
	}
	total := Content{Texts: texts, Headers: allHeaders(v, r), Body: body}.Size()
	if total > MaxSize {
		v.fail(nil, fmt.Sprintf("%d bytes are too many", total), fmt.Sprintf("Cloud Scheduler takes jobs of %d bytes, the headers that the "+
			"provider adds included.", MaxSize), "Shorten the body by at least "+amount(total-MaxSize, "byte")+": send a reference to the data rather than the data.")
	}
}

func judgeGoogleAPI(v *judge) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return
	}
	uri, ok := get(v, t.URI)
	if !ok {
		return
	}
	u, valid := parseTarget(uri)
	if !valid || !isGoogleAPI(u) {
		return
	}
	remedy := "Put a handler between them and call that; it starts the work once per run."
	if kind := forwarder(u); kind != "" {
		remedy = "Put a handler of kind " + kind + " between them and call that; it starts the work once per run."
	}
	v.fail(Path{"http_target", 0, "uri"}, strings.ToLower(u.Hostname())+" starts the work again with each delivery",
		"Google's APIs ignore the scheduler's headers: each retry and each repeated delivery is a new execution.", remedy)
}

// forwarder is the handler kind that stands between a job and that API, "" where there is none of its own.
func forwarder(u *url.URL) string {
	name, _, _ := strings.Cut(strings.ToLower(u.Hostname()), ".")
	switch {
	case strings.HasSuffix(name, "workflowexecutions"), strings.HasSuffix(name, "workflows"):
		return "forward_workflows"
	case name == "run", strings.HasSuffix(name, "-run"):
		return "forward_run_job"
	case strings.HasSuffix(name, "cloudbuild"):
		return "forward_cloud_build"
	}
	return ""
}

func judgeDeadline(v *judge) {
	deadline, ok := get(v, v.job.AttemptDeadline)
	if !ok || v.job.PubSub.IsSet() {
		return
	}
	most, also := maxHTTPDeadline, ""
	if _, ok := get(v, v.job.AppEngine); ok {
		if deadline == 0 {
			return
		}
		most, also = maxAppEngineDeadline, ", or 0 for the default of the service's scaling"
	}
	if v.job.AppEngine.IsUnknown() || deadline >= minDeadline && deadline <= most {
		return
	}
	nearest := min(max(deadline, minDeadline), most)
	v.fail(Path{"attempt_deadline"}, seconds(deadline)+" is out of range", fmt.Sprintf("It must be at least %s and at most %s%s.",
		seconds(minDeadline), seconds(most), also), "Set it to "+seconds(nearest)+", the nearest that is allowed.")
}

func judgeAppEngineDeadline(v *judge) {
	if _, ok := get(v, v.job.AppEngine); !ok {
		return
	}
	deadline, known := get(v, v.job.AttemptDeadline)
	renew, ok := get(v, v.derived.Deduplication.RenewLease)
	if !ok || renew || v.job.AttemptDeadline.IsUnknown() || known && deadline != 0 {
		return
	}
	v.fail(Path{"attempt_deadline"}, "an App Engine target needs one", fmt.Sprintf("Its default follows from how the service scales, up "+
		"to %s, which a plan cannot see; a lease without renewal must outlast it.", seconds(maxAppEngineDeadline)),
		"Set attempt_deadline, for example to "+seconds(10*time.Minute)+", the default with automatic scaling, or set "+
			"deduplication.renew_lease to true.")
}
