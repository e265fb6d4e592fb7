package jobspec

import (
	"net/http"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// defaultCollection is where claim records are kept when nothing else is said.
const defaultCollection = "(default)/scheduler_runs"

// deduplication fills in the defaults that follow from nothing else in the job but the contract; W, L and retention stay unset.
func deduplication(j Job) EffectiveDeduplication {
	in := j.Deduplication
	contract := handlerContract(in.Contract)
	store := in.Store.OrValue(contract.store).OrValue(convert(orUnknown(j.Project), func(project string) string {
		return "firestore://" + project + "/" + defaultCollection
	}))
	e := EffectiveDeduplication{
		Store:          convert(store, withoutPassword),
		ManageTTL:      in.ManageTTL.Or(true),
		RequestTimeout: in.RequestTimeout.OrValue(contract.requestTimeout),
		Lease:          in.Lease,
		RenewLease:     in.RenewLease.Or(false),
		Retention:      in.Retention,
		RunScope:       in.RunScope.Or(""),
		RunIDFormat:    in.RunIDFormat.Or(string(run.FormatV1)),
		MaxAttempts:    in.MaxAttempts.Or(0),
		AtMostOnce:     in.AtMostOnce.Or(false),
		Wait:           in.Wait.Or(false),
	}
	e.ForcedRuns = in.ForcedRuns.OrValue(convert(e.RunIDFormat, func(format string) string {
		return string(run.Policy{Format: run.Format(format)}.ForcedRuns())
	}))
	return e
}

// policy is what the handler is told. What is at the default of version 1 is left out, so that handlers built before a key
// existed keep working: the request timeout where it is the deadline and no renewal depends on it, the v1 format, separate forced
// runs, UTC.
func policy(j Job, d Derived) Value[run.Policy] {
	dedup := d.Deduplication
	zone := convert(j.TimeZone.Or(""), policyZone)
	if !allKnown(d.AttemptDeadline, dedup.RequestTimeout, dedup.Lease, dedup.RenewLease, dedup.Retention, d.Horizon, dedup.ForcedRuns,
		dedup.RunScope, dedup.RunIDFormat, dedup.MaxAttempts, dedup.AtMostOnce, dedup.Wait, j.Schedule.Or(""), zone) {
		return Unknown[run.Policy]()
	}
	p := run.Policy{
		Deadline:    d.AttemptDeadline.OrZero(),
		Timeout:     dedup.RequestTimeout.OrZero(),
		Lease:       dedup.Lease.OrZero(),
		Renew:       dedup.RenewLease.OrZero(),
		Retention:   dedup.Retention.OrZero(),
		Horizon:     d.Horizon.OrZero(),
		Forced:      run.ForcedPolicy(dedup.ForcedRuns.OrZero()),
		Scope:       dedup.RunScope.OrZero(),
		Format:      run.Format(dedup.RunIDFormat.OrZero()),
		MaxAttempts: dedup.MaxAttempts.OrZero(),
		AtMostOnce:  dedup.AtMostOnce.OrZero(),
		Wait:        dedup.Wait.OrZero(),
		Schedule:    j.Schedule.OrZero(),
		TimeZone:    zone.OrZero(),
	}
	if p.Timeout == p.Deadline && !p.Renew {
		p.Timeout = 0
	}
	if p.Forced == (run.Policy{Format: p.Format}).ForcedRuns() {
		p.Forced = ""
	}
	if p.Format == run.FormatV1 {
		p.Format = ""
	}
	return Known(p)
}

// injectedHeaders are the headers that the provider adds to a target that takes any.
func injectedHeaders(j Job, p Value[run.Policy]) map[string]Value[string] {
	headers := map[string]Value[string]{}
	if !j.HTTP.IsSet() && !j.AppEngine.IsSet() {
		return headers
	}
	for name, value := range map[string]Value[string]{
		run.HeaderProject: orUnknown(j.Project),
		run.HeaderRegion:  orUnknown(j.Region),
		run.HeaderPolicy:  convert(p, run.Policy.Encode),
	} {
		headers[http.CanonicalHeaderKey(name)] = value
	}
	return headers
}

// orUnknown is v, or unknown when v is unset: the provider fills project and region in before it asks.
func orUnknown[T any](v Value[T]) Value[T] { return v.OrValue(Unknown[T]()) }

type knowable interface{ IsKnown() bool }

func allKnown(values ...knowable) bool {
	for _, v := range values {
		if !v.IsKnown() {
			return false
		}
	}
	return true
}
