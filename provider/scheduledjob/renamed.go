package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// naming is what the record of a run is found by, beside job and schedule time.
type naming struct{ store, format, scope, forced string }

// namingOf reads the effective attributes. False: they are not all known.
func (m model) namingOf() (naming, bool) {
	fields, known := m.EffectiveDeduplication.Attributes(), true
	text := func(name string) string {
		value, ok := fields[name].(types.String)
		known = known && ok && !value.IsUnknown() && !value.IsNull()
		return value.ValueString()
	}
	n := naming{text("store"), text("run_id_format"), text("run_scope"), text("forced_runs")}
	return n, known
}

// declaredPrevious is the naming that the block previous declares, nil without one. What it leaves out is what the handler assumes.
func declaredPrevious(config model, now naming, diags *diag.Diagnostics) *naming {
	block, _ := only[deduplication](config.Deduplication, diags)
	if block == nil {
		return nil
	}
	declared, _ := only[previous](block.Previous, diags)
	if declared == nil {
		return nil
	}
	or := func(value types.String, fallback string) string {
		if value.ValueString() == "" {
			return fallback
		}
		return value.ValueString()
	}
	format := or(declared.RunIDFormat, string(run.FormatV1))
	return &naming{
		store: or(declared.Store, now.store), format: format, scope: declared.RunScope.ValueString(),
		forced: or(declared.ForcedRuns, string(run.Policy{Format: run.Format(format)}.ForcedRuns())),
	}
}

// warnRenamed says that a change gives runs another name, and what keeps a run that is retried across the change from being executed
// twice. A job that injected no policy before was not protected; nothing is lost by naming its runs anew.
func warnRenamed(config, plan, state model, now time.Time) diag.Diagnostics {
	var diags diag.Diagnostics
	before, one := state.namingOf()
	after, two := plan.namingOf()
	header, protected := mapToAPI(state.InjectedHeaders)[run.HeaderPolicy]
	if !one || !two || !protected || before == after {
		return diags
	}
	if declared := declaredPrevious(config, after, &diags); declared != nil && *declared == before {
		return diags
	}
	// A header that cannot be read was set by hand; how long its runs may be retried is not known then.
	horizon := 24 * time.Hour
	if policy, err := run.ParsePolicy(header); err == nil && policy.Horizon > 0 {
		horizon += policy.Horizon
	}
	until := now.UTC().Add(horizon).Truncate(time.Hour).Add(time.Hour)
	at := path.Root("deduplication")
	diags.AddAttributeWarning(at, fmt.Sprintf("deduplication of job %q: its runs get another name", plan.Name.ValueString()),
		fmt.Sprintf("%s. A run that was executed before the change and is delivered again after it would not be recognised.\n\n"+
			"Until no such delivery can come any more, let the handler claim runs by both names: give its service %s, deploy it, and declare "+
			"the same here, which silences this warning:\n\n%s",
			changes(before, after), environment(before, after, plan.Name.ValueString(), until), previousHCL(before, after, until)))
	return diags
}

// changes lists what differs.
func changes(before, after naming) string {
	var all []string
	add := func(attribute, from, to string) {
		if from != to {
			all = append(all, fmt.Sprintf("%s changes from %q to %q", attribute, from, to))
		}
	}
	add("store", before.store, after.store)
	add("run_id_format", before.format, after.format)
	add("run_scope", before.scope, after.scope)
	add("forced_runs", before.forced, after.forced)
	return strings.Join(all, ", ")
}

// environment is what the handler reads the previous name from.
func environment(before, after naming, job string, until time.Time) string {
	p := run.Previous{Job: job, Scope: before.scope, Until: until, Format: run.Format(before.format), Forced: run.ForcedPolicy(before.forced)}
	text := run.EnvPrevious + "=" + run.EncodePrevious([]run.Previous{p})
	if before.store != after.store {
		text += " and " + run.EnvPreviousStore + "=" + before.store
	}
	return text
}

func previousHCL(before, after naming, until time.Time) string {
	var b strings.Builder
	b.WriteString("previous {\n")
	write := func(attribute, value string, leaveOut bool) {
		if !leaveOut {
			fmt.Fprintf(&b, "  %-13s = %q\n", attribute, value)
		}
	}
	write("store", before.store, before.store == after.store)
	write("run_id_format", before.format, before.format == string(run.FormatV1))
	write("run_scope", before.scope, before.scope == "")
	write("forced_runs", before.forced, before.forced == string(run.Policy{Format: run.Format(before.format)}.ForcedRuns()))
	write("until", run.FormatTime(until), false)
	b.WriteString("}")
	return b.String()
}
