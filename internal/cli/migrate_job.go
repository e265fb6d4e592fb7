package cli

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// leaf is one attribute of a job to be written, by its path.
type leaf struct {
	path   string // http_target.oidc_token.audience
	value  cty.Value
	secret bool // written as a variable
}

// leaves are the attributes that say more than the defaults do, in the order in which they are written. hidden are the headers that
// are written as variables.
func (j incumbentJob) leaves() (all []leaf, hidden []string) {
	add := func(path, value, fallback string) {
		steps := strings.Split(path, ".")
		if value != "" && value != fallback {
			all = append(all, leaf{path, cty.StringVal(value), isSensitive(j.sensitive, steps...)})
		}
	}
	for _, name := range []string{"name", "project", "region", "description", "schedule"} {
		add(name, str(j.values[name]), "")
	}
	add("time_zone", str(j.values["time_zone"]), "Etc/UTC")
	target, block := only(j.values["http_target"]), "http_target"
	if engine := only(j.values["app_engine_http_target"]); target == nil && engine != nil {
		target, block = engine, "app_engine_http_target"
		add("attempt_deadline", str(j.values["attempt_deadline"]), "0s")
	} else {
		add("attempt_deadline", str(j.values["attempt_deadline"]), "180s")
	}
	if paused, _ := j.values["paused"].(bool); paused {
		all = append(all, leaf{path: "paused", value: cty.True})
	}
	add(block+".uri", str(target["uri"]), "")
	add(block+".relative_uri", str(target["relative_uri"]), "")
	add(block+".http_method", str(target["http_method"]), "POST")
	all = append(all, j.body(block, str(target["body"]))...)
	headers, hidden := j.headers(block, target["headers"])
	if len(headers) > 0 {
		all = append(all, leaf{path: block + ".headers", value: cty.MapVal(headers)})
	}
	for _, nested := range [][]string{
		{"oidc_token", "service_account_email", "audience"}, {"oauth_token", "service_account_email", "scope"},
		{"app_engine_routing", "service", "version", "instance"},
	} {
		fields := only(target[nested[0]])
		for _, name := range nested[1:] {
			add(block+"."+nested[0]+"."+name, str(fields[name]), "")
		}
	}
	return append(all, j.retries()...), hidden
}

// body is written as text where it is text.
func (j incumbentJob) body(block, encoded string) []leaf {
	if encoded == "" {
		return nil
	}
	secret := isSensitive(j.sensitive, block, "body")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !utf8.Valid(decoded) || secret {
		return []leaf{{block + ".body", cty.StringVal(encoded), secret}}
	}
	return []leaf{{path: block + ".body_text", value: cty.StringVal(string(decoded))}}
}

// headers parts the headers from those that are secret: marked as sensitive, or looking like it by the rule that warns about them.
func (j incumbentJob) headers(block string, value any) (shown map[string]cty.Value, hidden []string) {
	written, _ := value.(map[string]any)
	shown = map[string]cty.Value{}
	spec := jobspec.Headers{}
	for name, value := range written {
		spec[name] = jobspec.Known(str(value))
	}
	secret := map[string]bool{}
	for _, finding := range jobspec.Check(jobspec.Job{HTTP: jobspec.Known(jobspec.HTTPTarget{Headers: jobspec.Known(spec)})}) {
		if finding.Rule == "header-secret" && len(finding.Path) > 0 {
			name, _ := finding.Path[len(finding.Path)-1].(string)
			secret[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if secret[name] || isSensitive(j.sensitive, block, "headers", name) {
			hidden = append(hidden, name)
		} else {
			shown[name] = cty.StringVal(str(written[name]))
		}
	}
	return shown, hidden
}

// retries are what differs from the server's defaults, which mode observe keeps.
func (j incumbentJob) retries() []leaf {
	var all []leaf
	block := only(j.values["retry_config"])
	for _, field := range []struct{ name, fallback string }{
		{"retry_count", "0"}, {"max_retry_duration", "0s"}, {"min_backoff_duration", "5s"}, {"max_backoff_duration", "3600s"},
		{"max_doublings", "5"},
	} {
		switch value := block[field.name].(type) {
		case json.Number:
			if value != "0" && value.String() != field.fallback {
				all = append(all, leaf{path: "retry_config." + field.name, value: cty.MustParseNumberVal(value.String())})
			}
		case string:
			if value != "" && value != "0s" && value != field.fallback {
				all = append(all, leaf{path: "retry_config." + field.name, value: cty.StringVal(value)})
			}
		}
	}
	return all
}

// stays says why a job cannot be taken over, "" when it can.
func (j incumbentJob) stays() string {
	switch {
	case only(j.values["pubsub_target"]) != nil:
		return "it publishes to a Pub/Sub topic, whose messages carry neither the job's name nor the schedule time: a subscriber cannot tell a " +
			"second delivery from another run"
	case only(j.values["http_target"]) == nil && only(j.values["app_engine_http_target"]) == nil:
		return "it has no HTTP and no App Engine target"
	case str(j.values["name"]) == "" || str(j.values["schedule"]) == "":
		return "its name or its schedule is not known before apply"
	}
	return ""
}

// only is the block of a list that holds one at most.
func only(value any) map[string]any {
	list, _ := value.([]any)
	if len(list) == 0 {
		return nil
	}
	block, _ := list[0].(map[string]any)
	if block == nil {
		block = map[string]any{}
	}
	return block
}

func str(value any) string {
	text, _ := value.(string)
	return text
}
