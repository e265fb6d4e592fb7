// Package forward starts executions of Google APIs that take no idempotency token of their own, one for each run of a job.
//
// Cloud Scheduler can call those APIs itself, but they ignore its headers: each retry starts one more execution. A forwarder stands
// between them. Package scheduled claims the run; the work made here starts the execution with the run id as its token and
// completes the claim with the name of what was started, as the claim's result. It is also the way for work that takes longer than
// the thirty minutes a delivery may last.
//
// A call whose reply was lost is looked up by the token before anything is sent again, and so are the calls of earlier attempts. A
// look-up that finds something ends the run. One that finds nothing decides only when it began [Settle] after the call's deadline,
// since servers apply calls late and list them later still. What cannot be decided within the attempt's own time is settled by
// [OnUnknown]: held for an operator, or run again.
//
//	client, err := workflowsforward.Open(ctx, "")
//	target, err := client.Workflow(workflowsforward.Workflow{Name: "projects/acme/locations/europe-west1/workflows/report"})
//	cfg, err := scheduled.FromEnv(os.Getenv)
//	cfg.Store = store
//	cfg.Jobs, err = forward.Jobs(map[string]forward.Job{"nightly-report": {Target: target}})
//	handler, err := scheduled.NewHandler(cfg)
//
// What is started is fixed for each job. Nothing of a delivery but the run's own name and times reaches it: no path, query, header
// or body. Whoever may call the handler may have any of its jobs run, so that jobs of different owners belong in different ones.
//
// Give attempts the time to decide: a deadline of the call's timeout + [Settle] + 15 s, 60 s at least. The clients are in
// packages of their own (workflowsforward, runjobforward, cloudbuildforward), so that a program links only those it uses.
package forward
