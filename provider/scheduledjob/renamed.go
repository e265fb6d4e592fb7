package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// naming is how runs are named by the effective attributes.
func (m model) naming() jobspec.Naming {
	fields := m.EffectiveDeduplication.Attributes()
	text := func(name string) jobspec.Value[string] {
		value, ok := fields[name].(types.String)
		if !ok || value.IsUnknown() || value.IsNull() {
			return jobspec.Unknown[string]()
		}
		return jobspec.Known(value.ValueString())
	}
	return jobspec.Naming{Store: text("store"), RunIDFormat: text("run_id_format"), RunScope: text("run_scope"), ForcedRuns: text("forced_runs")}
}

// declaredPrevious is the naming that the block previous declares.
func declaredPrevious(config model, diags *diag.Diagnostics) jobspec.Value[jobspec.Previous] {
	block, _ := only[deduplication](config.Deduplication, diags)
	if block == nil {
		return jobspec.Unset[jobspec.Previous]()
	}
	return specReader{diags: diags}.previous(block.Previous)
}

// warnRenamed says that a change gives runs another name, and what keeps a run that is retried across the change from being executed
// twice. A job that injected no policy before was not protected; nothing is lost by naming its runs anew.
func warnRenamed(config, plan, state model, now time.Time) diag.Diagnostics {
	var diags diag.Diagnostics
	before, after := state.naming(), plan.naming()
	renaming := jobspec.Rename(before, after, declaredPrevious(config, &diags))
	header, protected := mapToAPI(state.InjectedHeaders)[run.HeaderPolicy]
	if !protected || renaming.Unknown || renaming.Declared || len(renaming.Changes) == 0 {
		return diags
	}
	// A header that cannot be read was set by hand; how long its runs may be retried is not known then.
	horizon := 24 * time.Hour
	if policy, err := run.ParsePolicy(header); err == nil && policy.Horizon > 0 {
		horizon += policy.Horizon
	}
	until := now.UTC().Add(horizon).Truncate(time.Hour).Add(time.Hour)
	changes := make([]string, len(renaming.Changes))
	for i, change := range renaming.Changes {
		changes[i] = fmt.Sprintf("%s changes from %q to %q", change.Attribute, change.From, change.To)
	}
	at := path.Root("deduplication")
	diags.AddAttributeWarning(at, fmt.Sprintf("deduplication of job %q: its runs get another name", plan.Name.ValueString()),
		fmt.Sprintf("%s. A run that was executed before the change and is delivered again after it would not be recognised.\n\n"+
			"Until no such delivery can come any more, let the handler claim runs by both names: give its service %s, deploy it, and declare "+
			"the same here, which silences this warning:\n\n%s\n\n(rule %s)",
			strings.Join(changes, ", "), environment(before, after, plan.Name.ValueString(), until), previousHCL(before, after, until),
			jobspec.RunsRenamed))
	return diags
}

// environment is what the handler reads the previous name from.
func environment(before, after jobspec.Naming, job string, until time.Time) string {
	p := run.Previous{Job: job, Scope: before.RunScope.OrZero(), Until: until, Format: run.Format(before.RunIDFormat.OrZero()), Forced: run.ForcedPolicy(before.ForcedRuns.OrZero())}
	text := run.EnvPrevious + "=" + run.EncodePrevious([]run.Previous{p})
	if before.Store.OrZero() != after.Store.OrZero() {
		text += " and " + run.EnvPreviousStore + "=" + before.Store.OrZero()
	}
	return text
}

func previousHCL(before, after jobspec.Naming, until time.Time) string {
	var b strings.Builder
	b.WriteString("previous {\n")
	write := func(attribute, value string, leaveOut bool) {
		if !leaveOut {
			fmt.Fprintf(&b, "  %-13s = %q\n", attribute, value)
		}
	}
	write("store", before.Store.OrZero(), before.Store.OrZero() == after.Store.OrZero())
	write("run_id_format", before.RunIDFormat.OrZero(), before.RunIDFormat.OrZero() == string(run.FormatV1))
	write("run_scope", before.RunScope.OrZero(), before.RunScope.OrZero() == "")
	write("forced_runs", before.ForcedRuns.OrZero(), before.ForcedRuns.OrZero() == string(run.Policy{Format: run.Format(before.RunIDFormat.OrZero())}.ForcedRuns()))
	write("until", run.FormatTime(until), false)
	b.WriteString("}")
	return b.String()
}
