package jobspec

import (
	"net/url"
	"regexp"
	"strings"
)

const serviceAccountDomain = ".iam.gserviceaccount.com"

var (
	emailShape   = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
	serviceAgent = regexp.MustCompile(`^service-[0-9]+@|@cloudservices\.gserviceaccount\.com$`)
	onlyDigits   = regexp.MustCompile(`^[0-9]+$`)
)

func tokenRules() []judgedRule {
	return []judgedRule{
		acceptableProof("no-authentication", "Nothing authenticates the calls to an HTTP target", judgeAuthentication),
		limit("token-conflict", "There are two tokens", judgeTwoTokens),
		acceptableProof("oauth-target", "An OAuth token goes to a target that is no Google API", judgeOAuthTarget),
		acceptableLimit("oauth-scope-invalid", "The scope of the OAuth token is not one", judgeOAuthScope),
		acceptableProof("audience-query", "The audience holds a query string", judgeAudienceQuery),
		acceptableProof("audience-origin", "The audience is not the target's own", judgeAudienceOrigin),
		limit("service-account-invalid", "The token's service account is not an address", judgeAccount),
		acceptableProof("service-account-project", "The token's service account belongs to another project", judgeAccountProject),
		acceptableProof("service-account-agent", "The token's service account is a service agent", judgeServiceAgent),
	}
}

func judgeAuthentication(v *judge) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return
	}
	get(v, t.OIDCToken)
	get(v, t.OAuthToken)
	if t.OIDCToken.IsSet() || t.OAuthToken.IsSet() {
		return
	}
	v.fail(Path{"http_target"}, "nothing authenticates its calls", "Without a token anyone who knows the address can send the same "+
		"headers and so run the work, or mark a run as done that never was.",
		"Add an oidc_token block with the service account that may call the handler.")
}

func judgeTwoTokens(v *judge) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return
	}
	_, oidc := get(v, t.OIDCToken)
	_, oauth := get(v, t.OAuthToken)
	if oidc && oauth {
		v.fail(Path{"http_target", 0, "oauth_token", 0}, "there is an oidc_token as well", "A delivery carries one token.",
			"Keep oidc_token for a handler, oauth_token for an address under googleapis.com.")
	}
}

// targetURL is the URI of an HTTP target, if it is known and valid.
func targetURL(v *judge) (*url.URL, bool) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return nil, false
	}
	uri, ok := get(v, t.URI)
	if !ok {
		return nil, false
	}
	return parseTarget(uri)
}

func judgeOAuthTarget(v *judge) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return
	}
	if _, ok := get(v, t.OAuthToken); !ok {
		return
	}
	if u, ok := targetURL(v); ok && !isGoogleAPI(u) {
		v.fail(Path{"http_target", 0, "oauth_token", 0}, "it would hand an access token to "+strings.ToLower(u.Hostname()),
			"An OAuth token gives access to Google's APIs to whoever receives it; Cloud Scheduler means it for addresses under "+
				"googleapis.com only.", "Use an oidc_token block instead.")
	}
}

// cloudPlatform is the scope that Cloud Scheduler uses when none is given.
const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

func judgeOAuthScope(v *judge) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return
	}
	token, ok := get(v, t.OAuthToken)
	if !ok {
		return
	}
	scopes, ok := get(v, token.Scope)
	if !ok || scopes == "" {
		return
	}
	path := Path{"http_target", 0, "oauth_token", 0, "scope"}
	remedy := "Set it to a scope of the API that is called, or leave it out for " + cloudPlatform + "."
	detail := "Scopes of Google's APIs are https addresses such as " + cloudPlatform + "; several are separated by spaces. A token for " +
		"anything else is refused, and with it every delivery."
	parts := strings.Fields(scopes)
	if len(parts) == 0 {
		v.fail(path, "it is blank", detail, remedy)
	}
	for _, scope := range parts {
		if u, err := url.Parse(scope); err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.Contains(scope, ",") || u.RawQuery != "" || u.Fragment != "" {
			v.fail(path, quote(scope)+" is not a scope", detail, remedy)
		}
	}
}

// givenAudience is the audience that the declaration gives, and where.
func givenAudience(v *judge) (string, Path, bool) {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return "", nil, false
	}
	token, ok := get(v, t.OIDCToken)
	if !ok {
		return "", nil, false
	}
	audience, ok := get(v, token.Audience)
	return audience, Path{"http_target", 0, "oidc_token", 0, "audience"}, ok
}

func judgeAudienceQuery(v *judge) {
	audience, path, ok := givenAudience(v)
	if !ok {
		// In mode observe the default is Cloud Scheduler's: the whole URI.
		t, _ := v.job.HTTP.Get()
		if token, hasToken := t.OIDCToken.Get(); !hasToken || token.Audience.IsSet() || v.derived.Mode.OrZero() != ModeObserve {
			return
		}
		if audience, ok = get(v, t.URI); !ok {
			return
		}
	}
	if !strings.ContainsAny(audience, "?#") {
		return
	}
	remedy := "Cut it off: " + quote(withoutQuery(audience)) + "."
	if u, ok := targetURL(v); ok {
		remedy = "Set it to " + quote(defaultAudience(u)) + "."
	}
	v.fail(path, "it holds a query string", "Targets compare the audience with their own address, which has none, and answer 401.", remedy)
}

func judgeAudienceOrigin(v *judge) {
	audience, path, ok := givenAudience(v)
	if !ok || audience == "" {
		return
	}
	u, ok := targetURL(v)
	if !ok || !isCloudRun(u) && !isFunction(u) {
		return
	}
	promised := handlerContract(v.job.Deduplication.Contract).audience
	if given, _ := get(v, promised); promised.IsUnknown() || given == audience {
		return
	}
	claimed, isURL := parseTarget(audience)
	want := defaultAudience(u)
	switch {
	case !isURL, strings.TrimSuffix(origin(claimed)+claimed.EscapedPath(), "/") == want:
		return // the target's own, or a custom audience, which is any text that is no address
	case isFunction(u) && isCloudRun(claimed), isCloudRun(u) && isFunction(claimed):
		return // a function of the second generation has an address of either form
	}
	v.fail(path, "the target takes it for another's", "Cloud Run and functions answer 401 to a token that is not for "+want+
		", unless the service lists the audience in custom_audiences.", "Set it to "+quote(want)+", or leave it out.")
}

// account is a service account of the job with its place.
type account struct {
	email string
	path  Path
}

// accounts lists the known service accounts of the job's tokens. What is unset is listed as empty.
func accounts(v *judge) []account {
	t, ok := get(v, v.job.HTTP)
	if !ok {
		return nil
	}
	var all []account
	add := func(block string, email Value[string]) {
		if text, ok := get(v, email); ok || !email.IsSet() {
			all = append(all, account{text, Path{"http_target", 0, block, 0, "service_account_email"}})
		}
	}
	if token, ok := get(v, t.OIDCToken); ok {
		add("oidc_token", token.ServiceAccountEmail)
	}
	if token, ok := get(v, t.OAuthToken); ok {
		add("oauth_token", token.ServiceAccountEmail)
	}
	return all
}

func judgeAccount(v *judge) {
	for _, a := range accounts(v) {
		if emailShape.MatchString(a.email) {
			continue
		}
		what := quote(a.email) + " is not an address"
		if a.email == "" {
			what = "it is missing"
		}
		v.fail(a.path, what, "The token is made for a service account, which is named by its address.",
			"Set it to NAME@PROJECT"+serviceAccountDomain+".")
	}
}

func judgeAccountProject(v *judge) {
	project, known := get(v, v.job.Project)
	for _, a := range accounts(v) {
		if !known || onlyDigits.MatchString(project) {
			return
		}
		owner, ok := projectOf(a.email)
		if !ok || owner == project {
			continue
		}
		v.fail(a.path, "it belongs to project "+quote(owner), "The token's service account must live in the job's project, "+
			quote(project)+".", "Use a service account of that project: NAME@"+accountHost(project)+".")
	}
}

// accountHost is what stands behind the @ of a project's service accounts; the project example.com:proj has proj.example.com.
func accountHost(project string) string {
	if domain, name, scoped := strings.Cut(project, ":"); scoped {
		project = name + "." + domain
	}
	return project + serviceAccountDomain
}

// projectOf is the project that a service account's address names, and false for addresses that name none.
func projectOf(email string) (string, bool) {
	name, host, ok := strings.Cut(email, "@")
	if !ok || serviceAgent.MatchString(email) {
		return "", false
	}
	project, ok := strings.CutSuffix(host, serviceAccountDomain)
	if host == "appspot.gserviceaccount.com" {
		project, ok = name, true
	}
	if !ok {
		return "", false
	}
	if id, domain, scoped := strings.Cut(project, "."); scoped {
		project = domain + ":" + id
	}
	return project, true
}

func judgeServiceAgent(v *judge) {
	for _, a := range accounts(v) {
		if serviceAgent.MatchString(a.email) {
			v.fail(a.path, "it is a service agent", "Service agents act for Google's services and cannot be given to a job's token.",
				"Create a service account in the job's project and give it the right to call the handler.")
		}
	}
}
