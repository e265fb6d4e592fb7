package planlint

import (
	"fmt"
	"slices"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// jobChange is what a change does to what names a job's runs and to whether it fires. The zero jobChange is none.
type jobChange struct {
	changed            bool
	attributes         [3]attributeChange // name, project, region
	scopeWas, scopeNow jobspec.Value[string]
	zone, paused       attributeChange
	// naming is how the runs of a job of ours were named; unset: they had no record, so that nothing is lost by naming them anew.
	naming jobspec.Value[jobspec.Derived]
	hidden bool // what names them is sensitive
}

// attributeChange is one attribute before and after.
type attributeChange struct {
	name     string
	was, now node
	value    jobspec.Value[string] // after, with the provider's default
}

// changeOf reads the change of a job.
func (c *checker) changeOf(r *resource, after node) jobChange {
	if !r.was() {
		return jobChange{}
	}
	before := r.prior()
	both := func(name string) attributeChange {
		return attributeChange{name: name, was: before.attribute(name), now: after.attribute(name), value: after.attribute(name).text()}
	}
	change := jobChange{
		changed: true, attributes: [3]attributeChange{both("name"), both("project"), both("region")}, scopeWas: scopeOf(before),
		scopeNow: scopeOf(after), zone: both("time_zone"), paused: both("paused"),
	}
	if r.kind == typeOurJob && wasProtected(before) {
		old := jobReader{job: &job{resource: r, ours: true}}
		change.naming = jobspec.Known(jobspec.Derive(jobspec.Job{
			Project: c.place(r, before, "project"), AttemptDeadline: old.duration(before, nil, "attempt_deadline"), HTTP: old.http(before),
			AppEngine: old.appEngine(before), Retry: old.retry(before), Deduplication: old.deduplication(before),
		}))
		change.hidden = sensitiveInside(before.attribute("deduplication").sensitive) || sensitiveInside(after.attribute("deduplication").sensitive)
	}
	for i := 1; i < len(change.attributes); i++ {
		change.attributes[i].value = c.place(r, after, change.attributes[i].name)
	}
	return change
}

// checkChange judges what a change of a job does to runs that may be in flight.
func (c *checker) checkChange(j *job) {
	if !j.change.changed {
		return
	}
	if !c.checkMove(j) {
		c.checkRename(j)
	}
	c.checkZone(j)
	c.checkResume(j)
}

// wasProtected says that the job told its handler what to keep: one that was moved here from another type did not.
func wasProtected(before node) bool {
	whole, _ := before.value.(object)
	return !slices.ContainsFunc(whole, func(m member) bool { return m.name == "injected_headers" && m.value == nil })
}

// checkMove finds changes of name, project or region: each makes another job, whose runs have other names. True: it found one.
func (c *checker) checkMove(j *job) bool {
	if !j.replaced() {
		return false
	}
	if scope, ok := j.change.scopeWas.Get(); ok && scope != "" && differs(j.change.scopeWas, j.change.scopeNow) == no {
		return false // the scope takes the place of name, project and region in the names of runs
	}
	for _, a := range j.change.attributes {
		old, known := a.was.text().Get()
		switch {
		case !known:
		case a.value.IsUnknown():
			c.wait(j.resource, jobspec.JobMoved)
		case a.value.OrZero() != old:
			c.report(j.resource, Finding{
				Rule: jobspec.JobMoved, Path: jobspec.Path{a.name},
				Summary: fmt.Sprintf("%s: %s changes from %s to %s", j.address, a.name, shown(a.was), shownText(a.now, a.value.OrZero())),
				Detail: "It is part of every run's name. A run that is under way under its old name is not known under the new one: if the new " +
					"job is due at the same time, the work runs once more, and what the old job had yet to retry is given up.",
				Remedy: "Pause the job, let its last run end (at most its retry horizon), apply, and resume. A job with a run_scope keeps the " +
					"names of its runs.",
			})
			return true
		}
	}
	return false
}

// checkRename finds changes of what else names the runs of a job of ours.
func (c *checker) checkRename(j *job) {
	before, ok := j.change.naming.Get()
	if !ok {
		return
	}
	renaming := jobspec.Rename(before.Naming(), j.naming, j.spec.Deduplication.Previous)
	switch {
	case renaming.Declared:
		return
	case renaming.Unknown:
		c.wait(j.resource, jobspec.RunsRenamed)
		return
	case len(renaming.Changes) == 0:
		return
	}
	var changes []string
	for _, change := range renaming.Changes {
		if j.change.hidden {
			changes = append(changes, change.Attribute+" changes")
			continue
		}
		changes = append(changes, fmt.Sprintf("%s changes from %.120q to %.120q", change.Attribute, change.From, change.To))
	}
	horizon := "at least as long after apply as a run of before can be retried"
	if d, known := before.Horizon.Get(); known {
		horizon = "at least " + seconds(d) + " after apply, the longest that a run of before is retried"
	}
	c.report(j.resource, Finding{
		Rule: jobspec.RunsRenamed, Path: jobspec.Path{"deduplication"}, Summary: j.address + ": " + several(changes),
		Detail: "The record of a run is found by it. A run that was executed before the change and is delivered again after it is not " +
			"recognised: the work runs once more.",
		Remedy: "Declare how runs were named in a block deduplication.previous with until " + horizon + ", and give its handler the same in " +
			run.EnvPrevious + "; or pause the job, let its last run end, apply and resume.",
	})
}

// scopeOf is the run_scope of a job of ours.
func scopeOf(n node) jobspec.Value[string] {
	block, state := n.block("deduplication")
	if !state.IsKnown() {
		return like[string](state)
	}
	return block.attribute("run_scope").text()
}

// checkZone finds changes of the time zone.
func (c *checker) checkZone(j *job) {
	zone := j.change.zone
	was, one := zone.was.text().Or("Etc/UTC").Get()
	now, two := zone.value.Or("Etc/UTC").Get()
	if !one || !two {
		c.wait(j.resource, jobspec.TimeZoneChanged)
		return
	}
	if unixcron.CanonicalZone(was) == unixcron.CanonicalZone(now) {
		return
	}
	c.report(j.resource, Finding{
		Rule: jobspec.TimeZoneChanged, Path: jobspec.Path{"time_zone"},
		Summary: fmt.Sprintf("%s: time_zone changes from %s to %s", j.address, shown(zone.was), shown(zone.now)),
		Detail: "A run is named by the instant that it is due at. The same hour of the clock is another instant now: on the day of the change " +
			"a run can come twice under two names, or not at all.",
		Remedy: "Apply at a time of day that neither zone has a run near, and check on that day that the work was done once.",
	})
}

// checkResume finds jobs that start to fire again.
func (c *checker) checkResume(j *job) {
	if paused, ok := j.change.paused.was.boolean().Get(); !ok || !paused {
		return
	}
	paused := j.change.paused.now.boolean()
	if paused.IsUnknown() {
		c.wait(j.resource, jobspec.PausedResumed)
		return
	}
	if paused.OrZero() {
		return
	}
	c.report(j.resource, Finding{
		Rule: jobspec.PausedResumed, Path: jobspec.Path{"paused"}, Summary: j.address + ": the job is resumed",
		Detail: "It fires at the next time of its schedule. Runs that were due while it was paused are not made up for.",
		Remedy: "If it was paused because of its target, make sure that the target is well again before you apply; force the run that was " +
			"missed, if one must be.",
	})
}

// shown is a value as a message may repeat it.
func shown(n node) string {
	text, ok := n.text().Get()
	if !ok {
		return "unset"
	}
	return shownText(n, text)
}

func shownText(n node, text string) string {
	if n.sensitive == true {
		return hidden
	}
	return fmt.Sprintf("%.120q", text)
}
