package scheduledjob

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

func duration(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, CustomType: spelling.Type{Kind: spelling.Duration}, MarkdownDescription: description,
		PlanModifiers: []planmodifier.String{spelling.Keep(spelling.Duration)},
	}
}

func text(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

func flag(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
}

func number(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description}
}

func retryConfigBlock() schema.Block {
	return single("How a failed run is tried again. What is left out is filled in so that the proofs hold; see `effective_retry_config`.",
		map[string]schema.Attribute{
			"retry_count":          number("How often, 0 to 5."),
			"max_retry_duration":   duration("How long retries may start, from the first attempt. `0s`: no limit of its own."),
			"min_backoff_duration": duration("The first pause."),
			"max_backoff_duration": duration("The longest pause."),
			"max_doublings":        number("How often the pause doubles before it grows by addition."),
		}, nil)
}

func deduplicationBlock() schema.Block {
	return single("How runs are kept to one effect. Without the block: as with an empty one.",
		map[string]schema.Attribute{
			"mode": text("`enforce` (default): the job is proved and defaults make the proofs hold. `observe`: headers are injected and " +
				"nothing else changes, proofs are warnings."),
			"store": text("Where claims are kept, a URL without a password. Unset: the contract's, else " +
				"`firestore://{project}/(default)/scheduler_runs`."),
			"manage_ttl": flag("Whether the expiry policy of a Firestore collection is ensured. It is never removed. Unset: true."),
			"contract":   text("What the handler promises, from the handler."),
			"request_timeout": duration("The longest an attempt may live: the request timeout of the target. Unset: the attempt " +
				"deadline."),
			"lease":         duration("How long a claim holds without news of its holder. Unset: what the proofs need."),
			"renew_lease":   flag("Whether a working attempt renews its lease. Unset: false."),
			"retention":     duration("How long a finished run is remembered. Unset: what the proofs need."),
			"forced_runs":   text("`separate` (default), `skip_next` or `reject`."),
			"run_scope":     text("A name that several jobs share so that their runs are one, `[A-Za-z0-9_-]{1,100}`."),
			"run_id_format": text("`v1` (default), or `sample` for Google's published handler."),
			"max_attempts":  number("After how many attempts a run counts as failed. Unset: never."),
			"at_most_once":  flag("Whether an attempt of which nothing is known any more is never repeated. Unset: false."),
			"wait":          flag("Whether a duplicate waits for the outcome of the attempt in progress. Unset: false."),
		}, map[string]schema.Block{"previous": previousBlock()})
}

func previousBlock() schema.Block {
	return single("How runs were named before a change of `store`, `run_id_format`, `run_scope` or `forced_runs`. Until then the handler "+
		"claims each run by that name first and by its own second; it reads this from `IDEMPOTENT_PREVIOUS` and "+
		"`IDEMPOTENT_PREVIOUS_STORE`, whose values the plan of such a change shows.", map[string]schema.Attribute{
		"store":         text("The store before. Unset: the same as now."),
		"run_id_format": text("The format before. Unset: `v1`."),
		"run_scope":     text("The scope before. Unset: none."),
		"forced_runs":   text("The policy for forced runs before. Unset: `separate`; with format `sample` `skip_next`."),
		"until":         text("When no run of the previous name can be delivered any more, in RFC 3339. Required."),
	}, nil)
}

func handlerBlock() schema.Block {
	return single("The handler to generate.", map[string]schema.Attribute{
		"kind":       text("Where it runs. Unset: `http`."),
		"module":     text("The path of its Go module. Unset: `example.com/` and the job's name."),
		"package":    text("Its Go package. Unset: `main`."),
		"output_dir": text("The folder that its files are written to at apply. Unset: they are only in `handler_files`."),
	}, nil)
}
