package handler

import (
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// environment is what the service must have in its environment. A variable is there when its attribute is, known or not.
func (m model) environment(earlier []previous) types.Map {
	if m.Callers.IsUnknown() || m.Previous.IsUnknown() {
		return types.MapUnknown(types.StringType)
	}
	if m.Kind.IsUnknown() {
		return types.MapUnknown(types.StringType)
	}
	variables := map[string]attr.Value{run.EnvStore: m.Store}
	if m.Kind.ValueString() == kindAPI { // its users are its own to know, and the rest is in its code
		return types.MapValueMust(types.StringType, variables)
	}
	variables[run.EnvCaller], variables[run.EnvProject] = m.Caller, m.Project
	set := func(name string, value types.String) {
		if !value.IsNull() {
			variables[name] = value
		}
	}
	set(run.EnvRegion, m.Region)
	set(run.EnvAudiences, m.Audience)
	if m.Kind.ValueString() != kindWebhook { // there it is that of an event, which the code knows
		set(run.EnvRequestTimeout, m.RequestTimeout.StringValue)
	}
	if !m.Callers.IsNull() {
		callers, unknown := textsOf(m.Callers)
		variables[run.EnvCallers] = maybe(strings.Join(callers, ","), unknown)
	}
	if len(earlier) > 0 {
		variables[run.EnvPrevious] = encodePrevious(earlier)
	}
	for _, p := range earlier {
		set(run.EnvPreviousStore, p.Store)
	}
	return types.MapValueMust(types.StringType, variables)
}

func maybe(text string, unknown bool) types.String {
	if unknown {
		return types.StringUnknown()
	}
	return types.StringValue(text)
}

func encodePrevious(earlier []previous) types.String {
	var all []run.Previous
	for _, p := range earlier {
		for _, text := range []types.String{p.Job, p.RunIDFormat, p.RunScope, p.ForcedRuns, p.Until} {
			if text.IsUnknown() {
				return types.StringUnknown()
			}
		}
		all = append(all, p.naming())
	}
	return types.StringValue(run.EncodePrevious(all))
}

// naming is a block as the handler reads it; values have been judged.
func (p previous) naming() run.Previous {
	until, _ := time.Parse(time.RFC3339, p.Until.ValueString())
	return run.Previous{
		Job: p.Job.ValueString(), Format: run.Format(p.RunIDFormat.ValueString()), Scope: p.RunScope.ValueString(),
		Forced: run.ForcedPolicy(p.ForcedRuns.ValueString()), Until: until,
	}
}

// promise is the contract: what jobs may rely on. Callers that stand for a whole project are the platform's to tell.
func (m model) promise() types.String {
	jobs, unknown := textsOf(m.Jobs)
	callers, unknownCallers := textsOf(m.Callers)
	for _, text := range []types.String{m.Name, m.Kind, m.Store, m.Audience, m.RequestTimeout.StringValue} {
		unknown = unknown || text.IsUnknown()
	}
	if unknown || unknownCallers || m.Forward.IsUnknown() {
		return types.StringUnknown()
	}
	if m.Jobs.IsNull() { // a forwarder serves the jobs of which it is told what they start
		for job := range m.Forward.Elements() {
			jobs = append(jobs, job)
		}
	}
	timeout, _ := m.timeout()
	switch m.Kind.ValueString() {
	case kindAPI: // no job calls it
		return types.StringNull()
	case kindWebhook: // it bounds a drain by the job's own deadline
		timeout = 0
	}
	return types.StringValue(jobspec.Contract{
		Handler: m.Name.ValueString(), Kind: m.Kind.ValueString(), Jobs: jobs, Store: m.Store.ValueString(),
		RequestTimeout: timeout, Audience: m.Audience.ValueString(), Callers: callers,
	}.Encode())
}
