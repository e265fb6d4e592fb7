package planlint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// grant is what an IAM resource gives to everyone, as far as it is known.
type grant struct {
	open    bool
	unknown bool
	role    string
	path    jobspec.Path
}

// invokers are the roles that let somebody call a target.
func invokers() []string {
	return []string{
		"roles/run.invoker", "roles/run.admin", "roles/run.developer", "roles/run.servicesInvoker", "roles/cloudfunctions.invoker",
		"roles/cloudfunctions.admin", "roles/owner", "roles/editor",
	}
}

func isEveryone(member string) bool { return member == "allUsers" || member == "allAuthenticatedUsers" }

// checkAccess finds the targets of jobs that anyone may call.
func (c *checker) checkAccess() {
	for _, t := range c.targets {
		if len(t.callers) == 0 {
			continue
		}
		switch open, known := t.open.Get(); {
		case open:
			c.reportOpen(t.resource, t, jobspec.Path{"invoker_iam_disabled"}, "IAM is not asked who is calling",
				"Set invoker_iam_disabled to false, and grant the job's service account the role of an invoker.")
		case !known:
			c.wait(t.resource, jobspec.TargetOpen)
		}
	}
	for _, r := range c.document.resources {
		kind, access := accessOf(r.kind)
		if kind == "" || !r.stays() {
			continue
		}
		n := r.planned()
		g := grantOf(n, access)
		if !g.open && !g.unknown {
			continue
		}
		for _, t := range c.targets {
			if len(t.callers) == 0 || !c.concerns(r, n, kind, t) {
				continue
			}
			if !g.open {
				c.wait(r, jobspec.TargetOpen)
				continue
			}
			c.reportOpen(r, t, g.path, g.role+" is given to everyone",
				"Give the role to the service account of the job's token alone: serviceAccount:NAME@PROJECT.iam.gserviceaccount.com.")
		}
	}
}

// reportOpen files the finding at what opens the target. A handler of ours verifies tokens by itself, so there it is a warning.
func (c *checker) reportOpen(about *resource, t *target, path jobspec.Path, what, remedy string) {
	level := Warning
	detail := "Anyone can send the headers of a delivery. The handler must then verify the token itself (IDEMPOTENT_CALLER=verify); with " +
		"cloud_run_iam a token proves nothing here."
	if slices.ContainsFunc(t.callers, func(j *job) bool { return !j.ours }) {
		level = Error
		detail = "Anyone who knows the address can run the work at any time, or mark a run as done that never was."
	}
	c.reportAt(about, Finding{
		Rule: jobspec.TargetOpen, Level: level, Path: path, Summary: about.address + ": " + what,
		Detail: t.address + " is called by " + several(addresses(t.callers)) + ". " + detail, Remedy: remedy,
	})
}

// grantOf reads what an IAM resource gives to everyone.
func grantOf(n node, access string) grant {
	if access == accessPolicy {
		return policyGrant(n.attribute("policy_data"))
	}
	role := n.attribute("role").text()
	name, known := role.Get()
	if known && !slices.Contains(invokers(), name) {
		return grant{}
	}
	path := jobspec.Path{"member"}
	members := []node{n.attribute("member")}
	listed := true
	if access == accessBinding {
		path = jobspec.Path{"members"}
		members, listed = n.attribute("members").each()
	}
	g := grant{role: name, path: path, unknown: !listed}
	for _, m := range members {
		member, ok := m.text().Get()
		switch {
		case ok && isEveryone(member):
			g.open = true
		case !ok:
			g.unknown = true
		}
	}
	if g.open && !known { // everyone gets a role that is not known yet
		return grant{unknown: true}
	}
	return g
}

func policyGrant(data node) grant {
	text, ok := data.text().Get()
	if !ok {
		return grant{unknown: true}
	}
	var policy struct {
		Bindings []struct {
			Role    string   `json:"role"`
			Members []string `json:"members"`
		} `json:"bindings"`
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return grant{} // the provider refuses it
	}
	for _, b := range policy.Bindings {
		if slices.Contains(invokers(), b.Role) && slices.ContainsFunc(b.Members, isEveryone) {
			return grant{open: true, role: b.Role, path: jobspec.Path{"policy_data"}}
		}
	}
	return grant{}
}

// concerns says that an IAM resource is about a target: by its name where that is known, else by reference.
func (c *checker) concerns(r *resource, n node, kind string, t *target) bool {
	run := kind == typeRun1 || kind == typeRun2
	switch {
	case kind == t.kind:
	case run && t.kind != typeFunction1: // one API has both forms of a service, and functions of the second generation are services
	default:
		return false
	}
	attribute := map[string]string{typeRun2: "name", typeRun1: "service", typeFunction2: "cloud_function", typeFunction1: "cloud_function"}[kind]
	id, known := n.attribute(attribute).text().Get()
	if !known {
		declared := within(n.expression, attribute)
		return slices.Contains(c.referred(r, declared), t.resource)
	}
	id = id[strings.LastIndex(id, "/")+1:] // names in full occur as well
	location := "location"
	if kind == typeFunction1 {
		location = "region"
	}
	return agrees(jobspec.Known(id), t.id) && agrees(n.attribute("project").text(), t.project) &&
		agrees(n.attribute(location).text(), t.location)
}

// agrees says that two values are not known to differ.
func agrees(a, b jobspec.Value[string]) bool {
	left, one := a.Get()
	right, two := b.Get()
	return !one || !two || left[strings.LastIndex(left, "/")+1:] == right[strings.LastIndex(right, "/")+1:]
}
