package planlint

import (
	"slices"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// The fields of a claim record that hold times.
const (
	fieldExpiry = "expire_at"
	fieldLease  = "lease_expires"
)

// defaultCollection is where claims are kept when nothing else is said.
const defaultCollection = "scheduler_runs"

// collection names a Firestore collection group.
type collection struct{ project, database, name string }

// use is what is known of a collection that holds claims.
type use struct {
	jobs    []*job // those that keep their claims there for certain
	managed bool   // its TTL policy is ensured by the provider
	fields  []*field
}

// field is a google_firestore_field.
type field struct {
	*resource

	at     collection
	name   string
	ttl    answer
	exempt answer // from single-field indexes
}

// checkClaims judges the collections that hold claims.
func (c *checker) checkClaims() {
	uses := c.collections()
	for _, at := range sortedCollections(uses) {
		u := uses[at]
		c.checkTTL(at, u)
		c.checkIndexes(at, u)
	}
	for _, r := range c.document.resources {
		switch r.kind {
		case typeField:
			c.checkFieldDestroyed(r, uses)
		case typeOurStore:
			c.checkStoreDestroyed(r, uses)
		case typeDatabase:
			c.checkDatabaseDestroyed(r, uses)
		}
	}
}

// collections finds the collections that hold claims: those that jobs name, the default one, and those with a field of a lease.
func (c *checker) collections() map[collection]*use {
	uses := map[collection]*use{}
	at := func(key collection) *use {
		if uses[key] == nil {
			uses[key] = &use{}
		}
		return uses[key]
	}
	for _, j := range c.jobs {
		store, _ := j.keeps.Get()
		if key, ok := firestore(store); ok && j.ours {
			u := at(key)
			u.jobs = append(u.jobs, j)
			u.managed = u.managed || j.spec.Deduplication.ManageTTL.Or(true).OrZero()
		}
	}
	var fields []*field
	for _, r := range c.document.resources {
		switch {
		case !r.stays():
		case r.kind == typeOurStore:
			if key, ok := firestore(r.planned().attribute("url").text().OrZero()); ok {
				at(key).managed = true
			}
		case r.kind == typeField:
			if f, ok := c.fieldOf(r, r.planned()); ok {
				fields = append(fields, f)
				if f.holdsClaims() {
					at(f.at)
				}
			}
		}
	}
	for _, f := range fields {
		if u := uses[f.at]; u != nil {
			u.fields = append(u.fields, f)
		}
	}
	return uses
}

// holdsClaims says that the field's collection holds claims, by its name or the field's.
func (f *field) holdsClaims() bool { return f.name == fieldLease || f.at.name == defaultCollection }

// firestore splits the URL of a Firestore collection.
func firestore(store string) (collection, bool) {
	rest, ok := strings.CutPrefix(store, "firestore://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 {
		return collection{}, false
	}
	return collection{parts[0], parts[1], parts[2]}, true
}

// fieldOf reads a google_firestore_field; false when it is not known which field of which collection it is.
func (c *checker) fieldOf(r *resource, n node) (*field, bool) {
	project, one := c.place(r, n, "project").Get()
	name, two := n.attribute("field").text().Get()
	group, three := n.attribute("collection").text().Get()
	database := n.attribute("database").text().Or("(default)")
	if !one || !two || !three || !database.IsKnown() {
		return nil, false
	}
	f := &field{resource: r, at: collection{project, database.OrZero(), group}, name: name}
	_, ttl := n.block("ttl_config")
	f.ttl = answerOf(ttl)
	index, state := n.block("index_config")
	f.exempt = answerOf(state)
	if indexes, listed := index.attribute("indexes").each(); state.IsKnown() {
		switch {
		case !listed:
			f.exempt = perhaps
		case len(indexes) > 0:
			f.exempt = no
		}
	}
	return f, true
}

func answerOf(state jobspec.Value[struct{}]) answer {
	switch {
	case state.IsUnknown():
		return perhaps
	case state.IsKnown():
		return yes
	}
	return no
}

// checkTTL wants the policy on expire_at, and on nothing else.
func (c *checker) checkTTL(at collection, u *use) {
	var missing, waiting bool
	missing = true
	for _, f := range u.fields {
		switch {
		case f.ttl == no:
		case f.name == fieldExpiry:
			missing = missing && f.ttl == perhaps
			waiting = waiting || f.ttl == perhaps
		case f.ttl == perhaps:
			c.wait(f.resource, jobspec.TTLWrongField)
		default:
			c.report(f.resource, Finding{
				Rule: jobspec.TTLWrongField, Path: jobspec.Path{"ttl_config"},
				Summary: f.address + ": the TTL policy is on " + f.name,
				Detail: "Firestore would delete the claims of " + at.name + " by " + f.name + ", not by " + fieldExpiry + ": a claim that is gone " +
					"before the last retry lets the run happen again. A collection group has one TTL field.",
				Remedy: "Move ttl_config to the field " + fieldExpiry + ".",
			})
			missing = false
		}
	}
	if !missing || u.managed {
		return
	}
	about, address := u.subject()
	switch {
	case about == nil:
	case waiting:
		c.wait(about, jobspec.TTLMissing)
	default:
		c.report(about, Finding{
			Rule: jobspec.TTLMissing, Path: address,
			Summary: about.address + ": collection " + at.name + " has no TTL policy",
			Detail:  "Nothing in this configuration makes Firestore delete the records of runs that are long over: they pile up for ever.",
			Remedy: "Add a google_firestore_field for collection " + at.name + " and field " + fieldExpiry + " with a ttl_config block, or let " +
				"idempotent_scheduled_job ensure the policy (manage_ttl).",
		})
	}
}

// subject is what a finding about a collection is filed at: a job that keeps its claims there, or a field.
func (u *use) subject() (*resource, jobspec.Path) {
	if len(u.jobs) > 0 {
		return u.jobs[0].resource, jobspec.Path{"deduplication", 0, "manage_ttl"}
	}
	if len(u.fields) > 0 {
		return u.fields[0].resource, nil
	}
	return nil, nil
}

// checkIndexes wants both timestamps of a collection whose fields are declared to be exempt from indexes.
func (c *checker) checkIndexes(at collection, u *use) {
	if c.datastoreMode(at) {
		return
	}
	declared := map[string]*field{}
	for _, f := range u.fields {
		if f.name == fieldExpiry || f.name == fieldLease {
			declared[f.name] = f
		}
	}
	if len(declared) == 0 {
		return
	}
	indexed := map[*field][]string{}
	for _, name := range []string{fieldExpiry, fieldLease} {
		f := declared[name]
		about := f
		if f == nil {
			about = u.fields[slices.IndexFunc(u.fields, func(f *field) bool { return declared[f.name] == f })]
		}
		switch {
		case f != nil && f.exempt == yes:
		case f != nil && f.exempt == perhaps:
			c.wait(f.resource, jobspec.IndexExemptionMissing)
		default:
			indexed[about] = append(indexed[about], name)
		}
	}
	for _, f := range u.fields {
		if names := indexed[f]; len(names) > 0 {
			c.report(f.resource, Finding{
				Rule: jobspec.IndexExemptionMissing, Path: jobspec.Path{"index_config"},
				Summary: f.address + ": " + several(names) + " of collection " + at.name + " is indexed",
				Detail: "Times that only ever grow put every write at one end of an index, which limits the collection to about 500 writes a " +
					"second. Nothing queries by them.",
				Remedy: "Give collection " + at.name + " a google_firestore_field with an empty index_config block for " + several(names) + ".",
			})
		}
	}
}

// datastoreMode says that the database cannot have such exemptions.
func (c *checker) datastoreMode(at collection) bool {
	for _, r := range c.document.resources {
		if r.kind != typeDatabase || !r.stays() {
			continue
		}
		n := r.planned()
		if key := c.databaseOf(r, n); key.project == at.project && key.database == at.database {
			mode, _ := n.attribute("type").text().Get()
			return mode == "DATASTORE_MODE"
		}
	}
	return false
}

func (c *checker) databaseOf(r *resource, n node) collection {
	return collection{project: c.place(r, n, "project").OrZero(), database: n.attribute("name").text().OrZero()}
}

func sortedCollections(uses map[collection]*use) []collection {
	all := make([]collection, 0, len(uses))
	for at := range uses {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b collection) int {
		return strings.Compare(a.project+"/"+a.database+"/"+a.name, b.project+"/"+b.database+"/"+b.name)
	})
	return all
}
