// Package livejob is the data source idempotent_scheduled_job: a job as Cloud Scheduler has it now, whoever made it.
package livejob
