package planlint

import (
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// checkFieldDestroyed finds TTL policies that go while jobs still write to the collection.
func (c *checker) checkFieldDestroyed(r *resource, uses map[collection]*use) {
	if !r.was() {
		return
	}
	before, ok := c.fieldOf(r, r.prior())
	if !ok || before.ttl != yes || before.name != fieldExpiry {
		return
	}
	if r.stays() {
		after, known := c.fieldOf(r, r.planned())
		switch {
		case !known || after.ttl == perhaps:
			c.wait(r, jobspec.TTLDestroyed)
			return
		case after.at == before.at && after.name == before.name && after.ttl == yes:
			return
		}
	}
	u := uses[before.at]
	if u == nil {
		u = &use{}
	}
	if len(u.jobs) == 0 && (before.at.name != defaultCollection || len(c.jobs) == 0) {
		return
	}
	users := u.jobs
	if len(users) == 0 {
		users = c.jobs
	}
	c.reportTTLDestroyed(r, before.at, users)
}

// checkStoreDestroyed finds the same of an idempotent_run_store, which leaves the policy where it is unless told to delete it.
func (c *checker) checkStoreDestroyed(r *resource, uses map[collection]*use) {
	if r.stays() || !r.was() {
		return
	}
	n := r.prior()
	at, ok := firestore(n.attribute("url").text().OrZero())
	if !ok || n.attribute("deletion_policy").text().OrZero() != "DELETE" || uses[at] == nil || len(uses[at].jobs) == 0 {
		return
	}
	c.reportTTLDestroyed(r, at, uses[at].jobs)
}

func (c *checker) reportTTLDestroyed(r *resource, at collection, users []*job) {
	c.report(r, Finding{
		Rule: jobspec.TTLDestroyed, Path: jobspec.Path{"ttl_config"},
		Summary: r.address + ": the TTL policy of collection " + at.name + " goes, the jobs stay",
		Detail: "Claims are kept there by " + several(addresses(users)) + ". Without the policy nothing deletes the records of runs that are " +
			"over. No run is repeated or lost by it.",
		Remedy: "Keep the policy for as long as jobs use the collection, or move it to another configuration by a removed block.",
	})
}

// checkDatabaseDestroyed finds databases that go with the claims in them.
func (c *checker) checkDatabaseDestroyed(r *resource, uses map[collection]*use) {
	if !r.was() || !r.deletes() {
		return
	}
	n := r.prior()
	if policy, _ := n.attribute("deletion_policy").text().Get(); policy != "DELETE" {
		return
	}
	key := c.databaseOf(r, n)
	var users []*job
	for _, at := range sortedCollections(uses) {
		if at.project == key.project && at.database == key.database {
			users = append(users, uses[at].jobs...)
		}
	}
	if len(users) == 0 {
		return
	}
	c.report(r, Finding{
		Rule: jobspec.StoreDestroyed, Summary: r.address + ": the database is destroyed, the jobs stay",
		Detail: "Claims are kept there by " + several(addresses(users)) + ". Without them every delivery answers 500 and no run happens; with " +
			"an empty database in its place, a repeated delivery runs the work again.",
		Remedy: "Pause or move the jobs first, and wait for their retries to end; or keep the database (deletion_policy ABANDON).",
	})
}
