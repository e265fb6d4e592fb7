package planlint

import (
	"fmt"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/unixcron"
)

// checkChange judges what a change of a job does to runs that may be in flight.
func (c *checker) checkChange(r *resource) {
	if r.kind != typeOurJob && r.kind != typeGoogleJob || !r.was() || !r.stays() {
		return
	}
	before, after := r.prior(), r.planned()
	c.checkMove(r, before, after)
	c.checkZone(r, before, after)
	c.checkResume(r, before, after)
}

// checkMove finds changes of name, project or region: each makes another job, whose runs have other names.
func (c *checker) checkMove(r *resource, before, after node) {
	if !r.replaced() {
		return
	}
	if scope, ok := scopeOf(before).Get(); ok && scope != "" && differs(jobspec.Known(scope), scopeOf(after)) == no {
		return // the scope takes the place of name, project and region in the names of runs
	}
	for _, attribute := range []string{"name", "project", "region"} {
		was, now := before.attribute(attribute), after.attribute(attribute)
		value := now.text()
		if attribute != "name" {
			value = c.place(r, after, attribute)
		}
		old, known := was.text().Get()
		switch {
		case !known:
		case value.IsUnknown():
			c.wait(r, ruleJobMoved)
		case value.OrZero() != old:
			c.report(r, Finding{
				Rule: ruleJobMoved, Path: jobspec.Path{attribute},
				Summary: fmt.Sprintf("%s: %s changes from %s to %s", r.address, attribute, shown(was), shownText(now, value.OrZero())),
				Detail: "It is part of every run's name. A run that is under way under its old name is not known under the new one: if the new " +
					"job is due at the same time, the work runs once more, and what the old job had yet to retry is given up.",
				Remedy: "Pause the job, let its last run end (at most its retry horizon), apply, and resume. A job with a run_scope keeps the " +
					"names of its runs.",
			})
			return
		}
	}
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
func (c *checker) checkZone(r *resource, before, after node) {
	was, one := before.attribute("time_zone").text().Or("Etc/UTC").Get()
	now, two := after.attribute("time_zone").text().Or("Etc/UTC").Get()
	if !one || !two {
		c.wait(r, ruleZoneChanged)
		return
	}
	if unixcron.CanonicalZone(was) == unixcron.CanonicalZone(now) {
		return
	}
	c.report(r, Finding{
		Rule: ruleZoneChanged, Path: jobspec.Path{"time_zone"},
		Summary: fmt.Sprintf("%s: time_zone changes from %s to %s", r.address, shown(before.attribute("time_zone")), shown(after.attribute("time_zone"))),
		Detail: "A run is named by the instant that it is due at. The same hour of the clock is another instant now: on the day of the change " +
			"a run can come twice under two names, or not at all.",
		Remedy: "Apply at a time of day that neither zone has a run near, and check on that day that the work was done once.",
	})
}

// checkResume finds jobs that start to fire again.
func (c *checker) checkResume(r *resource, before, after node) {
	if paused, ok := before.attribute("paused").boolean().Get(); !ok || !paused {
		return
	}
	paused := after.attribute("paused").boolean()
	if paused.IsUnknown() {
		c.wait(r, ruleResumed)
		return
	}
	if paused.OrZero() {
		return
	}
	c.report(r, Finding{
		Rule: ruleResumed, Path: jobspec.Path{"paused"}, Summary: r.address + ": the job is resumed",
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
