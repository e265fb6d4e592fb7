package planlint

import (
	"errors"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

var errForm = errors.New("not in seconds")

// deduplication reads the block of a job of ours.
func (read jobReader) deduplication(n node) jobspec.Deduplication {
	block, state := n.block("deduplication")
	if !state.IsSet() {
		return jobspec.Deduplication{}
	}
	if state.IsUnknown() {
		block = node{unknown: true}
	}
	at := jobspec.Path{"deduplication", 0}
	d := jobspec.Deduplication{
		Set:            true,
		Mode:           block.attribute("mode").text(),
		Store:          block.attribute("store").text(),
		ManageTTL:      block.attribute("manage_ttl").boolean(),
		Contract:       block.attribute("contract").text(),
		RequestTimeout: read.duration(block, at, "request_timeout"),
		Lease:          read.duration(block, at, "lease"),
		RenewLease:     block.attribute("renew_lease").boolean(),
		Retention:      read.duration(block, at, "retention"),
		ForcedRuns:     block.attribute("forced_runs").text(),
		RunScope:       block.attribute("run_scope").text(),
		RunIDFormat:    block.attribute("run_id_format").text(),
		MaxAttempts:    block.attribute("max_attempts").integer(),
		AtMostOnce:     block.attribute("at_most_once").boolean(),
		Wait:           block.attribute("wait").boolean(),
	}
	previous, state := block.block("previous")
	switch {
	case state.IsUnknown():
		d.Previous = jobspec.Unknown[jobspec.Previous]()
	case state.IsKnown():
		d.Previous = jobspec.Known(jobspec.Previous{
			Store:       previous.attribute("store").text(),
			RunIDFormat: previous.attribute("run_id_format").text(),
			RunScope:    previous.attribute("run_scope").text(),
			ForcedRuns:  previous.attribute("forced_runs").text(),
			Until:       previous.attribute("until").text(),
		})
	}
	return d
}

// fromPolicy is what the policy header of a job that is not ours tells the handler. Without one the values are Google's defaults,
// which is what mode observe means, and no lease is known.
func (read jobReader) fromPolicy() jobspec.Deduplication {
	d := jobspec.Deduplication{Mode: jobspec.Known(jobspec.ModeObserve)}
	text, ok := read.job.policy.Get()
	if !ok {
		return d
	}
	p, err := run.ParsePolicy(text)
	if err != nil {
		read.job.policyErr = err
		return d
	}
	read.job.leased = p.Lease > 0
	d.Set = true
	d.RequestTimeout, d.Lease, d.Retention = positive(p.Timeout), positive(p.Lease), positive(p.Retention)
	d.RenewLease, d.AtMostOnce, d.Wait = jobspec.Known(p.Renew), jobspec.Known(p.AtMostOnce), jobspec.Known(p.Wait)
	d.MaxAttempts = jobspec.Known(p.MaxAttempts)
	d.ForcedRuns, d.RunIDFormat = jobspec.Known(string(p.ForcedRuns())), notEmpty(jobspec.Known(string(p.Format)))
	d.RunScope = notEmpty(jobspec.Known(p.Scope))
	return d
}

func positive(d time.Duration) jobspec.Value[time.Duration] {
	if d > 0 {
		return jobspec.Known(d)
	}
	return jobspec.Unset[time.Duration]()
}
