package jobspec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func deduplicationRules() []judgedRule {
	return []judgedRule{
		limit("mode-invalid", "The mode of deduplication does not exist", judgeMode),
		limit("forced-runs-invalid", "The policy for forced runs does not exist", judgeForcedRuns),
		limit("run-id-format-invalid", "The format of run ids does not exist", judgeFormat),
		limit("run-scope-invalid", "The run scope is outside its alphabet", judgeScope),
		limit("sample-format-conflict", "The sample's format contradicts another setting", judgeSample),
		limit("max-attempts-invalid", "The number of attempts is negative", judgeMaxAttempts),
		warning("single-attempt", "A crash uses up the only attempt", judgeSingleAttempt),
		limit("previous-invalid", "The previous name of runs is not one", judgePrevious),
		limit("contract-invalid", "The contract cannot be read", judgeContract),
		acceptableProof("contract-mismatch", "The job does not keep the handler's contract", judgeContractKept),
	}
}

func dedupPath(attribute string) Path { return Path{"deduplication", 0, attribute} }

func modes() []string { return []string{ModeEnforce, ModeObserve} }

func forcedPolicies() []string {
	return []string{string(run.ForcedSeparate), string(run.ForcedSkipNext), string(run.ForcedReject)}
}

func formats() []string { return []string{string(run.FormatV1), string(run.FormatSample)} }

// judgeOneOf refuses a value that is not on the list.
func judgeOneOf(v *judge, value Value[string], path Path, allowed []string, detail string) {
	if text, ok := get(v, value); ok && !slices.Contains(allowed, text) {
		v.fail(path, quote(text)+" is not one of its values", detail, "Set it to "+list(allowed, "or")+".")
	}
}

func judgeMode(v *judge) {
	judgeOneOf(v, v.job.Deduplication.Mode, dedupPath("mode"), modes(),
		"enforce proves the job at plan time; observe injects the headers and turns proofs into warnings.")
}

func judgeForcedRuns(v *judge) {
	judgeOneOf(v, v.job.Deduplication.ForcedRuns, dedupPath("forced_runs"), forcedPolicies(),
		"It says what becomes of a run that somebody forces ahead of its time: it runs besides the scheduled one, in its place, or not at all.")
}

func judgeFormat(v *judge) {
	judgeOneOf(v, v.job.Deduplication.RunIDFormat, dedupPath("run_id_format"), formats(),
		"v1 names project, region, job and schedule time; sample is the key of Google's published handler.")
}

func judgeScope(v *judge) { judgeScopeAt(v, v.job.Deduplication.RunScope, dedupPath("run_scope")) }

func judgeScopeAt(v *judge, value Value[string], path Path) {
	text, ok := get(v, value)
	if !ok {
		return
	}
	if bad, ok := errors.AsType[*run.NameError](run.CheckScope(text)); ok {
		v.fail(path, quote(text)+" cannot be part of a run's name", "Jobs with the same scope share their runs; the scope takes the place of "+
			"project, region and job in the name.", "Set it to a value that matches "+bad.Allowed+".")
	}
}

func judgeSample(v *judge) {
	format, ok := get(v, v.job.Deduplication.RunIDFormat)
	if !ok || format != string(run.FormatSample) {
		return
	}
	if forced, ok := get(v, v.job.Deduplication.ForcedRuns); ok && forced != string(run.ForcedSkipNext) && slices.Contains(forcedPolicies(), forced) {
		v.fail(dedupPath("forced_runs"), "run_id_format sample implies skip_next", "The sample's key has no place for forced runs: a forced "+
			"run takes the place of the next scheduled one.", `Set it to "skip_next", leave it out, or set run_id_format to "v1".`)
	}
	if scope, ok := get(v, v.job.Deduplication.RunScope); ok && scope != "" {
		v.fail(dedupPath("run_scope"), "run_id_format sample has no scope", "The sample's key is made of job and schedule time only.",
			`Leave it out, or set run_id_format to "v1".`)
	}
}

func judgeMaxAttempts(v *judge) {
	if n, ok := get(v, v.job.Deduplication.MaxAttempts); ok && n < 0 {
		v.fail(dedupPath("max_attempts"), fmt.Sprintf("%d is negative", n), "It is the greatest number of attempts of one run.",
			"Set it to 1 or more, or to 0 for no limit.")
	}
}

func judgeSingleAttempt(v *judge) {
	n, ok := get(v, v.job.Deduplication.MaxAttempts)
	atMostOnce, known := get(v, v.derived.Deduplication.AtMostOnce)
	if ok && known && n == 1 && !atMostOnce {
		v.fail(dedupPath("max_attempts"), "a crash uses up the only attempt", "The retry that comes after the lease finds no attempt left and "+
			"marks the run as failed.", "Set it to at least 2, or set at_most_once to true if the work must never be repeated.")
	}
}

func judgePrevious(v *judge) {
	previous, ok := get(v, v.job.Deduplication.Previous)
	if !ok {
		return
	}
	at := func(attribute string) Path { return Path{"deduplication", 0, "previous", 0, attribute} }
	judgeOneOf(v, previous.ForcedRuns, at("forced_runs"), forcedPolicies(), "It is the policy for forced runs that held before the change.")
	judgeOneOf(v, previous.RunIDFormat, at("run_id_format"), formats(), "It is the format of run ids that held before the change.")
	judgeScopeAt(v, previous.RunScope, at("run_scope"))
	if store, ok := get(v, previous.Store); ok {
		if bad := badStore(store); bad != "" {
			v.fail(at("store"), "it is not the URL of a store", bad, "Set it to the URL that held before the change.")
		}
	}
	const example = "2027-01-31T00:00:00Z"
	if !previous.Until.IsSet() {
		v.fail(at("until"), "it is missing", "Until then the handler claims each run by its previous name first.",
			"Set it to a time in RFC 3339 by which no run under the previous name can still be retried, for example "+example+".")
		return
	}
	if until, ok := get(v, previous.Until); ok {
		if _, err := time.Parse(time.RFC3339, until); err != nil {
			v.fail(at("until"), quote(until)+" is not a time", "Until then the handler claims each run by its previous name first.",
				"Write a time in RFC 3339, for example "+example+".")
		}
	}
}

func judgeContract(v *judge) {
	text, ok := get(v, v.job.Deduplication.Contract)
	if !ok {
		return
	}
	if _, err := ParseContract(text); err != nil {
		v.fail(dedupPath("contract"), "it cannot be read", sentence(err.Error()), "Set it to the attribute contract of an "+
			"idempotent_handler of this provider's version.")
	}
}

func judgeContractKept(v *judge) {
	text, ok := get(v, v.job.Deduplication.Contract)
	if !ok {
		return
	}
	c, err := ParseContract(text)
	if err != nil {
		return
	}
	if name, ok := get(v, v.job.Name); ok && len(c.Jobs) > 0 && !slices.Contains(c.Jobs, name) {
		v.fail(Path{"name"}, "handler "+quote(c.Handler)+" does not serve it", "The handler has work for "+list(c.Jobs, "and")+" only.",
			"Add "+quote(name)+" to the handler's jobs.")
	}
	if store, ok := get(v, v.job.Deduplication.Store); ok && c.Store != "" && store != c.Store {
		v.fail(dedupPath("store"), "handler "+quote(c.Handler)+" uses another store", "The handler keeps its claims in "+
			quote(withoutPassword(c.Store))+".", "Leave it out: the contract gives it.")
	}
	if timeout, ok := get(v, v.job.Deduplication.RequestTimeout); ok && c.RequestTimeout > 0 && timeout > c.RequestTimeout {
		v.fail(dedupPath("request_timeout"), seconds(timeout)+" is longer than handler "+quote(c.Handler)+" lives",
			"The handler ends requests after "+seconds(c.RequestTimeout)+" and refuses a policy that asks for more.",
			"Set it to at most "+seconds(c.RequestTimeout)+", or leave it out: the contract gives it.")
	}
	if audience, path, ok := givenAudience(v); ok && c.Audience != "" && audience != c.Audience {
		v.fail(path, "handler "+quote(c.Handler)+" accepts another audience", "The handler accepts tokens for "+quote(c.Audience)+".",
			"Leave it out: the contract gives it.")
	}
	for _, a := range accounts(v) {
		if a.email != "" && !c.admits(a.email) {
			v.fail(a.path, "handler "+quote(c.Handler)+" does not let it in", "The handler lets in "+list(c.Callers, "and")+" only.",
				"Add "+quote(a.email)+" to the handler's callers.")
		}
	}
}
