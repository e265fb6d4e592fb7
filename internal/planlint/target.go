package planlint

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// target is a service or function that jobs can call.
type target struct {
	*resource

	project, location, id jobspec.Value[string] // id: its name
	timeout               jobspec.Value[time.Duration]
	addresses             []string            // its known URLs
	audiences             []string            // those it lists beside its own
	open                  jobspec.Value[bool] // IAM is not asked who is calling
	callers               []*job
}

// targetOf reads a target as it is after apply.
func targetOf(r *resource) *target {
	n := r.planned()
	n.configured = false // the server's own timeout is not known before it has answered
	t := &target{
		resource: r, project: n.attribute("project").text(), id: n.attribute("name").text(), open: jobspec.Known(false),
	}
	add := func(url node) {
		if text, ok := url.text().Get(); ok && text != "" {
			t.addresses = append(t.addresses, text)
		}
	}
	switch r.kind {
	case typeRun2:
		t.location = n.attribute("location").text()
		template, _ := n.block("template")
		t.timeout = apiSeconds(template.attribute("timeout"))
		t.open = n.attribute("invoker_iam_disabled").boolean().Or(false)
		add(n.attribute("uri"))
		urls, _ := n.attribute("urls").each()
		for _, url := range urls {
			add(url)
		}
		t.audiences = texts(n.attribute("custom_audiences"))
	case typeRun1:
		t.location = n.attribute("location").text()
		template, _ := n.block("template")
		spec, _ := template.block("spec")
		t.timeout = spec.attribute("timeout_seconds").secondsOf()
		status, _ := n.block("status")
		add(status.attribute("url"))
		metadata, _ := n.block("metadata")
		annotations := metadata.attribute("annotations").texts().OrZero()
		list, _ := annotations["run.googleapis.com/custom-audiences"].Get()
		_ = json.Unmarshal([]byte(list), &t.audiences) // what is no list names no audience
		if text, ok := annotations["run.googleapis.com/invoker-iam-disabled"].Get(); ok {
			t.open = jobspec.Known(text == "true")
		}
	case typeFunction2:
		t.location = n.attribute("location").text()
		service, _ := n.block("service_config")
		t.timeout = service.attribute("timeout_seconds").secondsOf()
		add(service.attribute("uri"))
		add(n.attribute("url"))
	case typeFunction1:
		t.location = n.attribute("region").text()
		t.timeout = n.attribute("timeout").secondsOf()
		add(n.attribute("https_trigger_url"))
	}
	return t
}

// apiSeconds is a duration as the API writes it, 300s. What is none is not known: the API will refuse it.
func apiSeconds(n node) jobspec.Value[time.Duration] {
	text, ok := notEmpty(n.text()).Get()
	if !ok {
		return absent[time.Duration](n)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return jobspec.Unknown[time.Duration]()
	}
	return jobspec.Known(d)
}

// texts are the known elements of a list of strings.
func texts(n node) []string {
	items, _ := n.each()
	var all []string
	for _, item := range items {
		if text, ok := item.text().Get(); ok {
			all = append(all, text)
		}
	}
	return all
}

// linkTargets finds what each job calls: by its address where that is known, else by what its URI refers to.
func (c *checker) linkTargets() {
	byAddress := map[string]*target{}
	byResource := map[*resource]*target{}
	for _, t := range c.targets {
		byResource[t.resource] = t
		for _, address := range t.addresses {
			byAddress[addressKey(address, t.kind == typeFunction1 || strings.Contains(address, "cloudfunctions.net"))] = t
		}
	}
	for _, j := range c.jobs {
		j.target = byAddress[addressKey(j.uriText(), false)]
		if j.target == nil {
			j.target = byAddress[addressKey(j.uriText(), true)]
		}
		if j.target == nil {
			for _, r := range c.referred(j.resource, j.uri) {
				if t := byResource[r]; t != nil {
					j.target = t
					break
				}
			}
		}
		if j.target != nil {
			j.target.callers = append(j.target.callers, j)
		}
	}
}

// uriText is the known URI of an HTTP target, else "".
func (j *job) uriText() string { return j.spec.HTTP.OrZero().URI.OrZero() }

// addressKey is the part of a URL that names a target: the host, and for functions the first segment of the path.
func addressKey(address string, function bool) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	key := strings.ToLower(u.Hostname())
	if function {
		name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		key += "/" + name
	}
	return key
}

// listsAudience says whether the target takes the audience for its own.
func (t *target) listsAudience(audience string) bool {
	return t != nil && audience != "" && slices.Contains(t.audiences, audience)
}
