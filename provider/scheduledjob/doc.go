// Package scheduledjob is the resource idempotent_scheduled_job: a Cloud Scheduler job, the expiry policy of its claim records, and
// the handler's files. It takes the place of google_cloud_scheduler_job with the same names and blocks.
//
// No domain rule lives here. A plan becomes a [jobspec.Job] (spec.go); what jobspec finds becomes diagnostics (findings.go), what
// it derives becomes computed attributes (derived.go); toapi.go and fromapi.go are the only conversions to and from the server's
// job.
package scheduledjob
