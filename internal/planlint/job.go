package planlint

import (
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// job is a scheduled job of a plan, of either provider.
type job struct {
	*resource

	spec   jobspec.Job
	masked jobspec.Job // spec with what is sensitive unknown
	secret bool        // whether the two differ
	ours   bool

	durations []badDuration
	policy    jobspec.Value[string] // the policy header of a job that is not ours
	policyErr error
	// policyHidden says that the header is sensitive, or not known.
	policyHidden bool
	// leased says that the lease is known: always for ours, else by the policy header.
	leased bool
	// uri and account are the expressions behind them, for following references.
	uri, account any
	target       *target
	// keeps is the store of its claims, naming how its runs are named, deadline the attempt deadline as far as it may be shown; all
	// of them once it has been judged.
	keeps    jobspec.Value[string]
	naming   jobspec.Naming
	deadline jobspec.Value[time.Duration]
	// places says which of the headers are sent that tell project and region; perhaps: the headers are not known yet.
	places map[string]answer
	change jobChange
	output handlerOutput
}

// badDuration is an attribute that is no duration.
type badDuration struct {
	path jobspec.Path
	text string
	form string // what it should look like
}

// jobOf reads a job as it is after apply.
func (c *checker) jobOf(r *resource) *job {
	j := &job{resource: r, ours: r.kind == typeOurJob}
	n := r.planned()
	j.spec = c.spec(j, n)
	j.masked = j.spec
	if sensitiveInside(n.sensitive) {
		n.hide = true
		j.secret = true
		open := &job{resource: r, ours: j.ours}
		j.masked = c.spec(open, n)
		j.policyHidden = open.policy.IsUnknown()
		n.hide = false
	}
	j.places = placesOf(n)
	j.change = c.changeOf(r, n)
	if c.options.Folder != "" {
		j.output = outputOf(r, n)
	}
	r.release()
	return j
}

// spec converts a job to the domain's terms.
func (c *checker) spec(j *job, n node) jobspec.Job {
	read := jobReader{job: j}
	s := jobspec.Job{
		Name:            n.attribute("name").text(),
		Project:         c.place(j.resource, n, "project"),
		Region:          c.place(j.resource, n, "region"),
		Description:     n.attribute("description").text(),
		Schedule:        n.attribute("schedule").text(),
		TimeZone:        n.attribute("time_zone").text(),
		AttemptDeadline: read.duration(n, nil, "attempt_deadline"),
		Paused:          n.attribute("paused").boolean(),
		HTTP:            read.http(n),
		AppEngine:       read.appEngine(n),
		PubSub:          pubSub(n),
		Retry:           read.retry(n),
		Now:             c.options.Now,
	}
	if j.ours {
		s.Deduplication = read.deduplication(n)
		s.AcceptedRisks = n.attribute("accepted_risks").texts()
		j.leased = true
	} else {
		s.Deduplication = read.fromPolicy()
	}
	if !n.configured && s.Deduplication.Mode.OrZero() == jobspec.ModeObserve {
		s.HTTP = withoutDefaultAudience(s.HTTP)
	}
	return s
}

// withoutDefaultAudience leaves out an audience that is the whole URI: without a configuration nobody can tell whether it was declared
// or is the one that Cloud Scheduler sets when none is.
func withoutDefaultAudience(target jobspec.Value[jobspec.HTTPTarget]) jobspec.Value[jobspec.HTTPTarget] {
	t, _ := target.Get()
	token, ok := t.OIDCToken.Get()
	audience, known := token.Audience.Get()
	if !ok || !known || audience != t.URI.OrZero() {
		return target
	}
	token.Audience = jobspec.Unset[string]()
	t.OIDCToken = jobspec.Known(token)
	return jobspec.Known(t)
}

// place is project or region: of the job, or the provider's.
func (c *checker) place(r *resource, n node, attribute string) jobspec.Value[string] {
	value := n.attribute(attribute)
	if value.unknown != true && value.value != nil {
		return value.text()
	}
	if text, ok := c.document.providerDefault(r, attribute); ok && value.expression == nil {
		return jobspec.Known(text)
	}
	return jobspec.Unknown[string]()
}

// jobReader reads the parts of a job and keeps what cannot be read.
type jobReader struct {
	job *job
}

func (read jobReader) http(n node) jobspec.Value[jobspec.HTTPTarget] {
	block, state := n.block("http_target")
	if !state.IsKnown() {
		return like[jobspec.HTTPTarget](state)
	}
	read.job.uri = within(block.expression, "uri")
	t := jobspec.HTTPTarget{
		URI:       block.attribute("uri").text(),
		Method:    notEmpty(block.attribute("http_method").text()),
		Body:      notEmpty(block.attribute("body").text()),
		BodyText:  block.attribute("body_text").text(),
		Headers:   read.headers(block),
		HeadersWO: block.attribute("headers_wo").texts(),
	}
	if token, state := block.block("oidc_token"); state.IsKnown() {
		read.job.account = within(token.expression, "service_account_email")
		t.OIDCToken = jobspec.Known(jobspec.OIDCToken{
			ServiceAccountEmail: token.attribute("service_account_email").text(),
			Audience:            notEmpty(token.attribute("audience").given().text()),
		})
	} else {
		t.OIDCToken = like[jobspec.OIDCToken](state)
	}
	if token, state := block.block("oauth_token"); state.IsKnown() {
		read.job.account = within(token.expression, "service_account_email")
		t.OAuthToken = jobspec.Known(jobspec.OAuthToken{
			ServiceAccountEmail: token.attribute("service_account_email").text(),
			Scope:               notEmpty(token.attribute("scope").text()),
		})
	} else {
		t.OAuthToken = like[jobspec.OAuthToken](state)
	}
	return jobspec.Known(t)
}

// notEmpty is unset for an empty text: hashicorp/google keeps one where the server left a value out.
func notEmpty(v jobspec.Value[string]) jobspec.Value[string] {
	if text, ok := v.Get(); ok && text == "" {
		return jobspec.Unset[string]()
	}
	return v
}

// headers are the declared headers. Those that carry a policy to a handler of ours are taken off a job that is not ours: there
// they are written by hand, and judged by rules of their own.
func (read jobReader) headers(block node) jobspec.Value[jobspec.Headers] {
	headers := block.attribute("headers").texts()
	all, ok := headers.Get()
	if !ok || read.job.ours {
		return headers
	}
	kept := jobspec.Headers{}
	for name, value := range all {
		switch {
		case strings.EqualFold(name, run.HeaderPolicy):
			read.job.policy = value
		case strings.EqualFold(name, run.HeaderProject), strings.EqualFold(name, run.HeaderRegion):
		case strings.EqualFold(name, "User-Agent") && value.OrZero() == "Google-Cloud-Scheduler": // the server's own, in state
		default:
			kept[name] = value
		}
	}
	return jobspec.Known(kept)
}

func (read jobReader) appEngine(n node) jobspec.Value[jobspec.AppEngineTarget] {
	block, state := n.block("app_engine_http_target")
	if !state.IsKnown() {
		return like[jobspec.AppEngineTarget](state)
	}
	t := jobspec.AppEngineTarget{
		RelativeURI: block.attribute("relative_uri").text(),
		Method:      notEmpty(block.attribute("http_method").text()),
		Body:        notEmpty(block.attribute("body").text()),
		BodyText:    block.attribute("body_text").text(),
		Headers:     read.headers(block),
		HeadersWO:   block.attribute("headers_wo").texts(),
	}
	if routing, state := block.block("app_engine_routing"); state.IsKnown() {
		t.Service = routing.attribute("service").text()
		t.Version = routing.attribute("version").text()
		t.Instance = routing.attribute("instance").text()
	}
	return jobspec.Known(t)
}

func pubSub(n node) jobspec.Value[jobspec.PubSubTarget] {
	block, state := n.block("pubsub_target")
	if !state.IsKnown() {
		return like[jobspec.PubSubTarget](state)
	}
	return jobspec.Known(jobspec.PubSubTarget{Topic: block.attribute("topic_name").text()})
}

// retry reads retry_config. A block that is unknown as a whole has every field unknown.
func (read jobReader) retry(n node) jobspec.Retry {
	block, state := n.block("retry_config")
	if !state.IsSet() {
		return jobspec.Retry{}
	}
	if state.IsUnknown() {
		block = node{unknown: true}
	}
	at := jobspec.Path{"retry_config", 0}
	return jobspec.Retry{
		Set:          true,
		Count:        block.attribute("retry_count").integer(),
		MaxDuration:  read.duration(block, at, "max_retry_duration"),
		MinBackoff:   read.duration(block, at, "min_backoff_duration"),
		MaxBackoff:   read.duration(block, at, "max_backoff_duration"),
		MaxDoublings: block.attribute("max_doublings").integer(),
	}
}

// duration reads a duration. What is none is kept for its own finding, and not known to the other rules.
func (read jobReader) duration(n node, block jobspec.Path, attribute string) jobspec.Value[time.Duration] {
	value := notEmpty(n.attribute(attribute).text())
	text, ok := value.Get()
	if !ok {
		return like[time.Duration](value)
	}
	form := `a number of seconds such as "180s"`
	d, err := time.ParseDuration(text)
	if read.job.ours {
		form = `a number and a unit, such as "180s", "3m" or "1h30m"`
	} else if strings.Trim(text, "0123456789.") != "s" {
		err = errForm
	}
	if err != nil {
		read.job.durations = append(read.job.durations, badDuration{append(slices.Clip(block), attribute), text, form})
		return jobspec.Unknown[time.Duration]()
	}
	return jobspec.Known(d)
}

// like is unset or unknown, as v is.
func like[T, U any](v jobspec.Value[U]) jobspec.Value[T] {
	if v.IsUnknown() {
		return jobspec.Unknown[T]()
	}
	return jobspec.Unset[T]()
}
