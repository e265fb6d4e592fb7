package jobspec

import (
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Naming is what the record of a run is found by, beside its job and its time. A change gives each run a second name: one that was
// executed under the first is not recognised by the second.
type Naming struct {
	Store, RunIDFormat, RunScope, ForcedRuns Value[string]
}

// Naming is how the runs of a job are named, with every default filled in.
func (d Derived) Naming() Naming {
	e := d.Deduplication
	return Naming{e.Store, e.RunIDFormat, e.RunScope, e.ForcedRuns}
}

// NamingChange is one attribute of deduplication that names runs anew.
type NamingChange struct{ Attribute, From, To string }

// Renaming is what a change of a job does to the names of its runs. The zero Renaming changes none.
type Renaming struct {
	Changes []NamingChange // those that are known
	Unknown bool           // whether more is changed, or declared, cannot be told before apply
	// Declared says that the block previous names the runs as they were, so that the handler looks for them by both names.
	Declared bool
}

// Rename compares how runs were named with how they will be. A previous block leaves out what has the default of a handler: the same
// store, format v1, no scope, and the policy for forced runs that goes with the format.
func Rename(before, now Naming, previous Value[Previous]) Renaming {
	var r Renaming
	compare := func(attribute string, from, to Value[string]) {
		old, one := from.Get()
		text, two := to.Get()
		switch {
		case !one || !two:
			r.Unknown = true
		case old != text:
			r.Changes = append(r.Changes, NamingChange{attribute, old, text})
		}
	}
	compare("store", before.Store, now.Store)
	compare("run_id_format", before.RunIDFormat, now.RunIDFormat)
	compare("run_scope", before.RunScope, now.RunScope)
	compare("forced_runs", before.ForcedRuns, now.ForcedRuns)
	if len(r.Changes) == 0 || !previous.IsSet() {
		return r
	}
	declared, ok := previous.Get()
	if !ok {
		r.Unknown = true
		return r
	}
	named := declared.naming(now)
	same := Rename(before, named, Unset[Previous]())
	r.Declared = len(same.Changes) == 0 && !same.Unknown
	r.Unknown = r.Unknown || same.Unknown
	return r
}

// naming fills in what a previous block leaves out.
func (p Previous) naming(now Naming) Naming {
	format := p.RunIDFormat.Or(string(run.FormatV1))
	return Naming{
		Store: convert(p.Store, withoutPassword).OrValue(now.Store), RunIDFormat: format, RunScope: p.RunScope.Or(""),
		ForcedRuns: p.ForcedRuns.OrValue(convert(format, func(format string) string {
			return string(run.Policy{Format: run.Format(format)}.ForcedRuns())
		})),
	}
}
