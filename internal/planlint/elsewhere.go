package planlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// checkElsewhere finds jobs of one name in different places whose runs a handler cannot tell apart: a delivery names the job by its
// short id only.
func (c *checker) checkElsewhere() {
	byName := map[string][]*job{}
	for _, j := range c.jobs {
		if name, ok := j.spec.Name.Get(); ok {
			byName[name] = append(byName[name], j)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		jobs := byName[name]
		for _, j := range jobs {
			if len(jobs) > 1 {
				c.checkNamesake(j, jobs)
			}
		}
	}
}

// checkNamesake holds a job against the others of its name.
func (c *checker) checkNamesake(j *job, jobs []*job) {
	for _, other := range jobs {
		if other == j {
			continue
		}
		shared := sharesTarget(j, other)
		if j.ours {
			shared = sharesSampleStore(j, other)
		}
		project, region := differs(j.spec.Project, other.spec.Project), differs(j.spec.Region, other.spec.Region)
		switch missing := j.missingHeaders(project, region); {
		case shared == no || len(missing) == 0:
		case shared == perhaps || project == perhaps && region == perhaps || project == perhaps && region == no || project == no && region == perhaps:
			c.wait(j.resource, jobspec.SameJobElsewhere)
		case project == yes || region == yes:
			c.report(j.resource, j.namesake(other, missing))
			return
		}
	}
}

func (j *job) namesake(other *job, missing []string) Finding {
	f := Finding{
		Rule: jobspec.SameJobElsewhere, Summary: fmt.Sprintf("%s: %s has the same name and target in another place", j.called(), other.address),
		Detail: "A delivery names its job by the short id alone. Without project and region the runs of both have one name, and the second of " +
			"the two at each schedule time is taken for a duplicate.",
		Path:   jobspec.Path{"http_target", 0, "headers"},
		Remedy: "Send " + several(missing) + " with each job, give the jobs different names, or declare them as idempotent_scheduled_job, which does so.",
	}
	if j.ours {
		f.Path = jobspec.Path{"deduplication", 0, "run_id_format"}
		f.Detail = "In the sample's format a run's name holds neither project nor region, and both jobs keep their claims in one store: the " +
			"second of the two at each schedule time is taken for a duplicate."
		f.Remedy = `Set run_id_format to "v1", give each job a store of its own, or give the jobs different names.`
	}
	return f
}

// answer is yes, no, or what cannot be told before apply.
type answer int

const (
	no answer = iota
	perhaps
	yes
)

// differs compares two values.
func differs(a, b jobspec.Value[string]) answer {
	left, one := a.Get()
	right, two := b.Get()
	switch {
	case !one || !two:
		return perhaps
	case left != right:
		return yes
	}
	return no
}

// same is the opposite of differs; perhaps stays perhaps.
func same(a, b jobspec.Value[string]) answer { return yes - differs(a, b) }

// sharesTarget says whether two jobs call the same address.
func sharesTarget(a, b *job) answer {
	left, one := a.spec.HTTP.Get()
	right, two := b.spec.HTTP.Get()
	switch {
	case !one || !two:
		return no
	case a.target != nil && b.target != nil && a.target != b.target:
		return no
	}
	return same(left.URI, right.URI)
}

// sharesSampleStore says whether two jobs keep claims of the sample's format in one store.
func sharesSampleStore(a, b *job) answer {
	if !b.ours || differs(a.spec.Deduplication.RunIDFormat, jobspec.Known(string(run.FormatSample))) != no {
		return no
	}
	if differs(b.spec.Deduplication.RunIDFormat, jobspec.Known(string(run.FormatSample))) != no {
		return no
	}
	return same(a.keeps, b.keeps)
}

// missingHeaders are the headers that would tell the job's runs from those of a job in another project or region.
func (j *job) missingHeaders(project, region answer) []string {
	if j.ours {
		return []string{run.HeaderProject, run.HeaderRegion} // in the sample's format they do not count
	}
	var missing []string
	if project != no && !j.sends(run.HeaderProject) {
		missing = append(missing, run.HeaderProject)
	}
	if region != no && !j.sends(run.HeaderRegion) {
		missing = append(missing, run.HeaderRegion)
	}
	return missing
}

// sends says that the job's headers hold the name. Headers that are not known yet are given the benefit of the doubt.
func (j *job) sends(header string) bool { return j.places[header] != no }

// placesOf looks for the headers that tell where a job is.
func placesOf(n node) map[string]answer {
	block, state := n.block("http_target")
	if !state.IsKnown() {
		return nil
	}
	headers := block.attribute("headers").texts()
	places := map[string]answer{}
	for _, header := range []string{run.HeaderProject, run.HeaderRegion} {
		if headers.IsUnknown() {
			places[header] = perhaps
		}
		for name := range headers.OrZero() {
			if strings.EqualFold(name, header) {
				places[header] = yes
			}
		}
	}
	return places
}
